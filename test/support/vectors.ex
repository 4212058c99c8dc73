defmodule BeamMCP.Test.Vectors do
  @moduledoc """
  The recorded decisions of test/fixtures/auth: 237 of them, each of which a test sends over a socket or
  starts an instance with.
  """

  @fixtures Path.expand("../fixtures/auth", __DIR__)

  # Each file, where its checks are, and what tells them apart.
  @families [
    {"access-tokens.json", "cases", "id"},
    {"dpop.json", "cases", "id"},
    {"mtls.json", "cases", "id"},
    {"scopes.json", "cases", "id"},
    {"challenges.json", "cases", "id"},
    {"metadata.json", "locations", "resource"}
  ]

  @doc "How many checks each file has."
  @spec counts() :: %{String.t() => pos_integer()}
  def counts, do: Map.new(@families, fn {file, _member, _id} -> {file, length(all(file))} end)

  @doc "The checks of a file."
  @spec all(String.t()) :: [map()]
  def all(file) do
    {^file, member, _id} = List.keyfind(@families, file, 0)
    load(file)[member]
  end

  @doc "Whether `driven` are the checks of a file, each of them once."
  @spec driven?([map()], String.t()) :: boolean()
  def driven?(driven, file) do
    {^file, _member, id} = List.keyfind(@families, file, 0)
    Enum.sort(Enum.map(driven, & &1[id])) == Enum.sort(Enum.map(all(file), & &1[id]))
  end

  @doc "A fixture."
  @spec load(String.t()) :: term()
  def load(file) do
    {:ok, value} = file |> read() |> BeamMCP.Native.decode()
    value
  end

  @doc "A fixture as text."
  @spec read(String.t()) :: String.t()
  def read(file), do: File.read!(Path.join(@fixtures, file))
end
