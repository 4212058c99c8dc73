defmodule BeamMCP.Connectome.GraphTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome.{Edge, Graph, Index, Node}

  @a %Node{id: "s/a", kind: :tool, level: :server}
  @b %Node{id: "s/b", kind: :tool, level: :server, labels: %{mode: :read_only}}
  @ab Edge.new!(from: "s/a", to: "s/b", kind: :invoke, provenance: :declared, weight: 3)
  @ba Edge.new!(from: "s/b", to: "s/a", kind: :read, provenance: :observed)

  defp new(fields) do
    Graph.new(Keyword.merge([schema_version: 3, nodes: [@a, @b], edges: [@ab]], fields))
  end

  test "a graph holds its parts in order, as the terms they were" do
    assert {:ok, %Graph{schema_version: 3, nodes: [@a, @b], edges: [@ab, @ba]} = graph} =
             new(nodes: [@b, @a], edges: [@ba, @ab])

    assert new(edges: [@ab, @ba]) == {:ok, graph}
    assert Graph.new(schema_version: 1, nodes: [], edges: []) |> elem(0) == :ok
  end

  test "what is wrong is refused by name" do
    node = &%{@a | &1 => &2}
    edge = &%{@ab | &1 => &2}

    for {fields, refusal} <- [
          {[schema_version: 4], {:invalid, :schema_version, 4}},
          {[schema_version: "3"], {:invalid, :schema_version, "3"}},
          {[nodes: %{}], {:invalid, :nodes, %{}}},
          {[nodes: [@a | @b]], {:invalid, :nodes, [@a | @b]}},
          {[nodes: [@ab]], {:invalid, :nodes, [@ab]}},
          {[edges: [@a]], {:invalid, :edges, [@a]}},
          {[nodes: [node.(:id, :a)]], {:invalid, :id, :a}},
          {[nodes: [node.(:kind, :gadget)]], {:invalid, :kind, :gadget}},
          {[nodes: [node.(:level, nil)]], {:invalid, :level, nil}},
          {[nodes: [node.(:labels, [])]], {:invalid, :labels, []}},
          {[nodes: [node.(:labels, 1..2)]], {:invalid, :labels, 1..2}},
          {[edges: [edge.(:from, nil)]], {:invalid, :from, nil}},
          {[edges: [edge.(:to, 1)]], {:invalid, :to, 1}},
          {[edges: [edge.(:kind, :call)]], {:invalid, :kind, :call}},
          {[edges: [edge.(:provenance, :both)]], {:invalid, :provenance, :both}},
          {[edges: [edge.(:weight, -1)]], {:invalid, :weight, -1}},
          {[edges: [edge.(:weight, -(2 ** 70))]], {:invalid, :weight, -(2 ** 70)}},
          {[edges: [edge.(:weight, -0.5)]], {:invalid, :weight, -0.5}},
          {[edges: [edge.(:sign, :unknown)]], {:invalid, :sign, :unknown}},
          {[nodes: [@a, @a]], {:duplicate_node, "s/a"}},
          {[edges: [@ab, edge.(:sign, :hold)]],
           {:duplicate_edge, {"s/a", "s/b", :invoke, :declared}}},
          {[nodes: [@a]], {:dangling_edge, "s/b"}}
        ] do
      assert new(fields) == {:error, refusal}
    end
  end

  test "options come first, and new!/1 raises" do
    assert Graph.new(%{}) == {:error, {:invalid, :opts, %{}}}
    assert Graph.new(nodes: [], edges: []) == {:error, {:missing, :schema_version}}
    assert new(colour: 1) == {:error, {:unknown_key, :colour}}
    assert_raise ArgumentError, ~r/the graph is refused/, fn -> Graph.new!([]) end
  end

  test "the first fault is named: version, lists, nodes, edges, doubles, ends" do
    wrong_edge = %{@ab | kind: :call}
    assert new(schema_version: 0, nodes: nil) == {:error, {:invalid, :schema_version, 0}}
    assert new(nodes: [%{@a | kind: 1}], edges: nil) == {:error, {:invalid, :edges, nil}}

    assert new(nodes: [%{@a | kind: 1}], edges: [wrong_edge]) == {:error, {:invalid, :kind, 1}}
    assert new(nodes: [@a, @a], edges: [wrong_edge]) == {:error, {:invalid, :kind, :call}}
    assert new(nodes: [@a, @a], edges: [@ab, @ab]) == {:error, {:duplicate_node, "s/a"}}
    assert {:error, {:duplicate_edge, _key}} = new(nodes: [@a], edges: [@ab, @ab])
  end

  test "an index says how large it is" do
    {:ok, graph} = new([])
    assert {:ok, %Index{nodes: 2, edges: 1, schema_version: 3} = index} = Graph.index(graph)
    assert inspect(index) == "#BeamMCP.Connectome.Index<2 nodes, 1 edges>"

    assert Graph.index(%{graph | nodes: []}) ==
             {:error, {:uncanonical, {:invalid_graph, {:dangling_edge, "s/a"}}}}
  end
end
