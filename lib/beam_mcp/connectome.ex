defmodule BeamMCP.Connectome do
  @moduledoc """
  What the parts of a running system can reach, what they did reach, and the difference, in bytes
  that have one form and a digest.

  A connectome is a directed graph (`BeamMCP.Connectome.Graph`). It comes from declarations
  (`BeamMCP.Connectome.Declared`) and from observation (`BeamMCP.Connectome.Observed`);
  `BeamMCP.Connectome.Diff` compares the two and `BeamMCP.Connectome.Reach` answers what reaches
  what. `docs/connectome-canonical.md` describes the bytes so that others can write and check them.

  Every function here takes a graph or its index, and runs on a dirty scheduler.
  """

  alias BeamMCP.Connectome.{Fields, Graph, Index}
  alias BeamMCP.Native

  @algorithms [:sha256, :sha384, :sha512]
  @versions [1, 2, 3]

  @typedoc "The digest that the bytes name."
  @type algorithm :: :sha256 | :sha384 | :sha512

  @typedoc "A graph, as terms or inside the native library."
  @type source :: Graph.t() | Index.t()

  @typedoc "Why there are no canonical bytes."
  @type uncanonical ::
          {:invalid_graph, Graph.refusal()}
          | {:duplicate_id_after_nfc, id :: String.t()}
          | {:invalid_utf8, id :: binary(), field :: term()}
          | {:label_key, id :: String.t(), key :: term()}
          | {:duplicate_label_key, id :: String.t(), key :: String.t()}
          | {:label_value, id :: String.t(), label :: String.t(), value :: term()}
          | {:not_xml, id :: String.t(), codepoint :: char()}

  @typedoc "A refusal: of an option, or of the graph."
  @type refusal ::
          {:unknown_key, term()} | {:invalid, atom(), term()} | {:uncanonical, uncanonical()}

  @typedoc "What checked bytes say about themselves."
  @type verified :: %{schema_version: pos_integer(), algorithm: algorithm(), digest: String.t()}

  @doc """
  The canonical bytes of a graph.

    * `:algorithm` - `:sha256` (default), `:sha384` or `:sha512`; version 3 names it in the bytes,
      versions 1 and 2 are SHA-256 always
    * `:schema_version` - another version than the graph's own; a sign that the version has no
      word for is refused, the neutral ones (`:unknown` of version 1, `:unset` later) widen to version 1 but
      never narrow
  """
  @spec encode(source(), keyword()) :: {:ok, binary()} | {:error, refusal()}
  def encode(source, options \\ []) do
    with {:ok, algorithm, version} <- options(options) do
      Native.connectome_encode(source, version, algorithm)
    end
  end

  @doc "`encode/2`, raising `ArgumentError` with the refusal."
  @spec encode!(source(), keyword()) :: binary()
  def encode!(source, options \\ []), do: Fields.bang!(encode(source, options), "graph")

  @doc """
  The digest over the canonical bytes in lower-case hexadecimal; takes the options of `encode/2`.
  The bytes are hashed as they are written and kept nowhere.
  """
  @spec digest(source(), keyword()) :: {:ok, String.t()} | {:error, refusal()}
  def digest(source, options \\ []) do
    with {:ok, algorithm, version} <- options(options) do
      Native.connectome_digest(source, version, algorithm)
    end
  end

  @doc "`digest/2`, raising `ArgumentError` with the refusal."
  @spec digest!(source(), keyword()) :: String.t()
  def digest!(source, options \\ []), do: Fields.bang!(digest(source, options), "graph")

  @doc """
  The weights as JSON, one object for each edge that has one. No digest covers them.
  """
  @spec sidecar(source()) :: {:ok, binary()} | {:error, refusal()}
  def sidecar(source), do: Native.connectome_sidecar(source)

  defp options(options) do
    with :ok <- Fields.check(options, [], [:algorithm, :schema_version]),
         algorithm = Keyword.get(options, :algorithm, :sha256),
         version = options[:schema_version],
         :ok <- Fields.member(:algorithm, algorithm, @algorithms),
         :ok <- Fields.member(:schema_version, version, [nil | @versions]) do
      {:ok, algorithm, version}
    end
  end
end
