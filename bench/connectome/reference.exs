defmodule Bench.Connectome.Reference do
  # The work of the native library on a connectome, written in plain Elixir as one would write it:
  # what the benchmark compares with, and a second opinion on every answer.

  alias BeamMCP.Connectome.{Graph, Node}

  def encode(%Graph{} = graph) do
    nodes = graph.nodes |> Enum.map(&node_text/1) |> Enum.sort() |> Enum.map(&elem(&1, 1))
    edges = graph.edges |> Enum.map(&edge_text/1) |> Enum.sort() |> Enum.map(&elem(&1, 1))

    IO.iodata_to_binary([
      ~s({"schema_version":3,"algorithm":"sha256","nodes":[),
      Enum.intersperse(nodes, ?,),
      ~s(],"edges":[),
      Enum.intersperse(edges, ?,),
      "]}"
    ])
  end

  def digest(graph),
    do: :sha256 |> :crypto.hash(encode(graph)) |> Base.encode16(case: :lower)

  # Labels by class, as `BeamMCP.Connectome.Diff` has them, where no sign was supplied.
  def diff(declared, observed) do
    [declared, observed] = for graph <- [declared, observed], do: labels(graph)

    for {class, labels} <- [
          declared_and_observed: MapSet.intersection(declared, observed),
          declared_never_observed: MapSet.difference(declared, observed),
          observed_but_undeclared: MapSet.difference(observed, declared)
        ],
        into: %{} do
      {class, labels |> Enum.sort_by(&utf16/1) |> Enum.map(&label/1)}
    end
  end

  # The length of a shortest path, or nil.
  def hops(graph, from, to) do
    search(successors(graph), [from], MapSet.new([from]), to, 0)
  end

  # The nodes that every path from the servers to `target` passes: Lengauer and Tarjan over maps.
  def dominators(graph, target) do
    after_root = for %Node{kind: :server, id: id} <- graph.nodes, do: id
    after_each = Map.put(successors(graph), :root, after_root)
    {numbers, parents} = walk([{:root, nil}], after_each, %{}, %{})
    nodes = Map.new(numbers, fn {node, number} -> {number, node} end)

    before =
      for {from, targets} <- after_each, is_map_key(numbers, from), to <- targets, reduce: %{} do
        before -> Map.update(before, to, [from], &[from | &1])
      end

    numbers |> immediate(parents, nodes, before) |> chain(target, []) |> MapSet.new()
  end

  defp node_text(node) do
    id = nfc(node.id)

    {id,
     [
       ~s({"id":),
       string(id),
       ~s(,"kind":"#{node.kind}","labels":),
       value(node.labels),
       ~s(,"level":"#{node.level}"})
     ]}
  end

  defp edge_text(edge) do
    [from, to] = Enum.map([edge.from, edge.to], &nfc/1)
    [kind, provenance] = Enum.map([edge.kind, edge.provenance], &Atom.to_string/1)

    {{from, to, kind, provenance},
     [
       ~s({"from":),
       string(from),
       ~s(,"kind":"#{kind}","provenance":"#{provenance}","sign":"#{edge.sign}","to":),
       string(to),
       ?}
     ]}
  end

  defp value(map) when is_map(map) do
    members =
      map
      |> Enum.map(fn {key, value} -> {nfc(to_string(key)), value} end)
      |> Enum.sort_by(fn {key, _value} -> :unicode.characters_to_binary(key, :utf8, :utf16) end)
      |> Enum.map(fn {key, value} -> [string(key), ?:, value(value)] end)

    [?{, Enum.intersperse(members, ?,), ?}]
  end

  defp value(list) when is_list(list),
    do: [?[, list |> Enum.map(&value/1) |> Enum.intersperse(?,), ?]]

  defp value(nil), do: "null"
  defp value(boolean) when is_boolean(boolean), do: Atom.to_string(boolean)
  defp value(atom) when is_atom(atom), do: atom |> Atom.to_string() |> string()
  defp value(integer) when is_integer(integer), do: Integer.to_string(integer)
  defp value(text) when is_binary(text), do: text |> nfc() |> string()

  defp nfc(text), do: String.normalize(text, :nfc)

  defp string(text), do: [?", escape(text, text, 0, 0, []), ?"]

  # Runs without an escape are taken out of the text as they are.
  defp escape(rest, text, start, length, out) do
    case rest do
      <<byte, rest::binary>> when byte >= 32 and byte not in [?", ?\\] ->
        escape(rest, text, start, length + 1, out)

      <<byte, rest::binary>> ->
        out = [out, binary_part(text, start, length), escaped(byte)]
        escape(rest, text, start + length + 1, 0, out)

      "" ->
        [out, binary_part(text, start, length)]
    end
  end

  defp escaped(?"), do: ~S(\")
  defp escaped(?\\), do: ~S(\\)
  defp escaped(?\b), do: ~S(\b)
  defp escaped(?\t), do: ~S(\t)
  defp escaped(?\n), do: ~S(\n)
  defp escaped(?\f), do: ~S(\f)
  defp escaped(?\r), do: ~S(\r)
  defp escaped(byte), do: "\\u00" <> Base.encode16(<<byte>>, case: :lower)

  defp labels(graph),
    do: MapSet.new(graph.edges, fn edge -> {nfc(edge.from), nfc(edge.to), edge.kind} end)

  defp utf16({from, to, kind}) do
    [from, to] = for id <- [from, to], do: :unicode.characters_to_binary(id, :utf8, :utf16)
    {from, to, kind}
  end

  defp label({from, to, kind}), do: %{from: from, to: to, kind: kind}

  defp successors(graph), do: Enum.group_by(graph.edges, & &1.from, & &1.to)

  defp search(_successors, [], _seen, _to, _hops), do: nil

  defp search(successors, layer, seen, to, hops) do
    if to in layer do
      hops
    else
      next = layer |> Enum.flat_map(&Map.get(successors, &1, [])) |> Enum.uniq()
      next = Enum.reject(next, &MapSet.member?(seen, &1))
      search(successors, next, MapSet.union(seen, MapSet.new(next)), to, hops + 1)
    end
  end

  defp walk([], _successors, numbers, parents), do: {numbers, parents}

  defp walk([{node, _parent} | rest], successors, numbers, parents)
       when is_map_key(numbers, node),
       do: walk(rest, successors, numbers, parents)

  defp walk([{node, parent} | rest], successors, numbers, parents) do
    next = for target <- Map.get(successors, node, []), do: {target, node}
    numbers = Map.put(numbers, node, map_size(numbers))
    walk(next ++ rest, successors, numbers, Map.put(parents, node, parent))
  end

  defp immediate(numbers, parents, nodes, before) do
    state = %{semi: numbers, ancestor: %{}, label: %{}, bucket: %{}, immediate: %{}}
    last = map_size(nodes) - 1

    state =
      for number <- last..1//-1, reduce: state do
        state -> number |> then(&nodes[&1]) |> semidominator(parents, nodes, before, state)
      end

    for number <- 1..last//1, node = nodes[number], reduce: state.immediate do
      immediate ->
        found = immediate[node]
        is_semi = numbers[found] == state.semi[node]
        Map.put(immediate, node, if(is_semi, do: found, else: immediate[found]))
    end
  end

  defp semidominator(node, parents, nodes, before, state) do
    state =
      for from <- Map.get(before, node, []), reduce: state do
        state ->
          {lowest, state} = lowest(from, state)
          put_in(state.semi[node], min(state.semi[node], state.semi[lowest]))
      end

    parent = parents[node]
    state = update_in(state.bucket[nodes[state.semi[node]]], &[node | &1 || []])
    state = put_in(state.ancestor[node], parent)
    {waiting, state} = pop_in(state.bucket[parent])

    for node <- waiting || [], reduce: state do
      state ->
        {lowest, state} = lowest(node, state)
        below? = state.semi[lowest] < state.semi[node]
        put_in(state.immediate[node], if(below?, do: lowest, else: parent))
    end
  end

  defp lowest(node, state) do
    if state.ancestor[node] do
      state = compress(node, state)
      {Map.get(state.label, node, node), state}
    else
      {node, state}
    end
  end

  defp compress(node, state) do
    ancestor = state.ancestor[node]

    if state.ancestor[ancestor] do
      state = compress(ancestor, state)
      [label, above] = for node <- [node, ancestor], do: Map.get(state.label, node, node)
      label = if state.semi[above] < state.semi[label], do: above, else: label
      state = put_in(state.label[node], label)
      put_in(state.ancestor[node], state.ancestor[ancestor])
    else
      state
    end
  end

  defp chain(immediate, node, found) do
    case immediate[node] do
      :root -> found
      nil -> found
      dominator -> chain(immediate, dominator, [dominator | found])
    end
  end
end
