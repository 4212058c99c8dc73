defmodule BeamMCP.Connectome.Canonical do
  @moduledoc """
  The names by which hosts of the earlier system know the functions of `BeamMCP.Connectome`.

  They take and return what they did: digests as bytes under `hash`, in hexadecimal under
  `hash_hex`. New code calls `BeamMCP.Connectome`.
  """

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.Fields

  @typedoc "A refusal of `BeamMCP.Connectome.encode/2`."
  @type refusal :: Connectome.refusal()

  @doc "`BeamMCP.Connectome.encode/2`."
  @spec encode(Connectome.source(), keyword()) :: {:ok, binary()} | {:error, refusal()}
  defdelegate encode(source, options \\ []), to: Connectome

  @doc "`BeamMCP.Connectome.encode!/2`."
  @spec encode!(Connectome.source(), keyword()) :: binary()
  defdelegate encode!(source, options \\ []), to: Connectome

  @doc "`BeamMCP.Connectome.encode_value/1`."
  @spec encode_value(map()) :: {:ok, binary()} | {:error, refusal()}
  defdelegate encode_value(value), to: Connectome

  @doc "`BeamMCP.Connectome.sidecar/1`."
  @spec sidecar(Connectome.source()) :: {:ok, binary()} | {:error, refusal()}
  defdelegate sidecar(source), to: Connectome

  @doc "`BeamMCP.Connectome.digest/2`."
  @spec hash_hex(Connectome.source(), keyword()) :: {:ok, String.t()} | {:error, refusal()}
  defdelegate hash_hex(source, options \\ []), to: Connectome, as: :digest

  @doc "`BeamMCP.Connectome.digest!/2`."
  @spec hash_hex!(Connectome.source(), keyword()) :: String.t()
  defdelegate hash_hex!(source, options \\ []), to: Connectome, as: :digest!

  @doc "`BeamMCP.Connectome.digest/2` as bytes."
  @spec hash(Connectome.source(), keyword()) :: {:ok, binary()} | {:error, refusal()}
  def hash(source, options \\ []), do: source |> Connectome.digest(options) |> bytes()

  @doc "`hash/2`, raising `ArgumentError` with the refusal."
  @spec hash!(Connectome.source(), keyword()) :: binary()
  def hash!(source, options \\ []), do: Fields.bang!(hash(source, options), "graph")

  @doc "`BeamMCP.Connectome.digest_value/2` as bytes."
  @spec hash_value(map(), keyword()) :: {:ok, binary()} | {:error, refusal()}
  def hash_value(value, options \\ []), do: value |> Connectome.digest_value(options) |> bytes()

  defp bytes({:ok, digest}), do: {:ok, Base.decode16!(digest, case: :lower)}
  defp bytes(refused), do: refused
end
