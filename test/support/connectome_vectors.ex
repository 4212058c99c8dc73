defmodule BeamMCP.ConnectomeVectors do
  @moduledoc false
  # The vectors of `test/fixtures/connectome`, with their notation for what JSON cannot say turned into terms.

  alias BeamMCP.Connectome.{Edge, Graph, Node}
  alias BeamMCP.Native

  @folder "test/fixtures/connectome"

  @spec read(String.t()) :: term()
  def read(name) do
    {:ok, vectors} = [@folder, "#{name}.json"] |> Path.join() |> File.read!() |> Native.decode()
    vectors
  end

  @spec bytes(String.t()) :: binary()
  def bytes(name), do: File.read!(Path.join(@folder, "#{name}.bin"))

  # A graph as a host may write it: unsorted and unchecked.
  @spec graph(map()) :: Graph.t()
  def graph(input) do
    %Graph{
      schema_version: input["schema_version"],
      nodes: Enum.map(input["nodes"], &graph_node/1),
      edges: Enum.map(input["edges"], &edge/1)
    }
  end

  @spec value(term()) :: term()
  def value(%{"$int" => digits}), do: String.to_integer(digits)
  def value(%{"$float" => hexadecimal}), do: float(hexadecimal)
  def value(%{"$utf8_hex" => hexadecimal}), do: Base.decode16!(hexadecimal, case: :mixed)

  # An atom and a string of one name stand for a key that repeats.
  def value(%{"$pairs" => pairs}) do
    Enum.reduce(pairs, %{}, fn [key, value], map ->
      key = value(key)
      key = if is_map_key(map, key), do: String.to_atom(key), else: key
      Map.put(map, key, value(value))
    end)
  end

  def value(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, value(value)} end)
  def value(list) when is_list(list), do: Enum.map(list, &value/1)
  def value(other), do: other

  # IEEE 754 as C writes it: `-0x1.8p+3`.
  @spec float(String.t()) :: float()
  def float("-" <> rest), do: float(rest) * -1.0

  def float("0x" <> rest) do
    [mantissa, exponent] = String.split(rest, "p")
    [whole, fraction] = String.split(mantissa, ".")
    digits = String.to_integer(whole <> fraction, 16)
    scaled(digits, String.to_integer(exponent) - 4 * byte_size(fraction))
  end

  @spec large() :: Graph.t()
  def large do
    {edges, _state} =
      Enum.flat_map_reduce(1..10_000, 1, fn _number, state ->
        {from, state} = next(state, 500)
        {to, state} = next(state, 500)
        {kind, state} = next(state, 4)
        kind = Enum.at([:invoke, :read, :message, :supervise], kind)
        {[{"bench/tool/t#{1 + from}", "bench/tool/t#{1 + to}", kind}], state}
      end)

    tools = for n <- 1..500, do: tool("bench/tool/t#{n}")
    server = %Node{id: "bench/server", kind: :server, level: :server}

    edges =
      for {from, to, kind} <- Enum.uniq(edges),
          do: Edge.new!(from: from, to: to, kind: kind, provenance: :declared)

    Graph.new!(schema_version: 3, nodes: [server | tools], edges: edges)
  end

  defp tool(id), do: %Node{id: id, kind: :tool, level: :server}

  defp next(state, count) do
    state = rem(state * 1_103_515_245 + 12_345, 2 ** 31)
    {rem(Bitwise.bsr(state, 8), count), state}
  end

  defp graph_node(node) do
    %Node{
      id: value(node["id"]),
      kind: String.to_atom(node["kind"]),
      level: String.to_atom(node["level"]),
      labels: value(node["labels"])
    }
  end

  defp edge(edge) do
    %Edge{
      from: value(edge["from"]),
      to: value(edge["to"]),
      kind: String.to_atom(edge["kind"]),
      provenance: String.to_atom(edge["provenance"]),
      sign: String.to_atom(edge["sign"]),
      weight: value(edge["weight"])
    }
  end

  # The smallest exponent is beyond what `:math.pow/2` reaches in one step.
  defp scaled(digits, exponent) when exponent < -1_000,
    do: digits * :math.pow(2, -1_000) * :math.pow(2, exponent + 1_000)

  defp scaled(digits, exponent), do: digits * :math.pow(2, exponent)
end
