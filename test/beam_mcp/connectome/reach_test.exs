defmodule BeamMCP.Connectome.ReachTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome.{Edge, Graph, Node, Reach}

  @plain [{"srv", "a"}, {"srv", "b"}, {"a", "g"}, {"b", "g"}, {"g", "x"}]

  defp graph(pairs, more \\ []) do
    ids = ["srv", "a", "b", "g", "x", "alone"]

    nodes =
      for id <- ids,
          do: %Node{id: id, kind: if(id == "srv", do: :server, else: :tool), level: :server}

    edges = for {from, to} <- pairs, do: edge(from, to)
    Graph.new!(schema_version: 3, nodes: nodes, edges: edges ++ more)
  end

  defp edge(from, to, fields \\ []) do
    struct!(%Edge{from: from, to: to, kind: :invoke, provenance: :declared}, fields)
  end

  defp sources(graph) do
    {:ok, index} = Graph.index(graph)
    [graph, index]
  end

  test "a gate that every path passes, and a way around it" do
    for source <- sources(graph(@plain)) do
      assert Reach.reachable?(source, "srv", "x") == {:ok, true}
      assert Reach.reachable?(source, "x", "srv") == {:ok, false}
      assert Reach.reachable_without(source, "srv", "x", ["g"]) == {:ok, false}
      assert Reach.reachable_without(source, "srv", "x", ["x"]) == {:ok, false}
      assert Reach.dominates?(source, "g", "x") == {:ok, true}
      assert Reach.dominates?(source, "a", "x") == {:ok, false}
      assert Reach.dominates?(source, "x", "x") == {:ok, true}
      assert Reach.mandatory_pass(source, "x") == {:ok, MapSet.new(["srv", "g"])}
    end

    around = edge("a", "x", weight: 2)

    for source <- sources(graph(@plain, [around])) do
      assert {:ok, %Reach.Path{nodes: ["srv", "a", "x"], edges: [first, second]}} =
               Reach.reachable_without(source, "srv", "x", ["g"])

      assert {first, second} == {edge("srv", "a"), around}
      assert Reach.mandatory_pass(source, "x") == {:ok, MapSet.new(["srv"])}
    end
  end

  test "a node reaches itself, in no step" do
    graph = graph([])
    assert {:ok, %{nodes: ["a"], edges: []}} = Reach.reachable_without(graph, "a", "a", [])
    assert Reach.mandatory_pass(graph, "srv") == {:ok, MapSet.new()}
  end

  test "kinds, signs and hops narrow what counts" do
    graph =
      graph([{"srv", "a"}], [
        edge("a", "x", kind: :read, sign: :deny),
        edge("srv", "x", kind: :message)
      ])

    for source <- sources(graph) do
      assert Reach.reachable?(source, "a", "x") == {:ok, true}
      assert Reach.reachable?(source, "a", "x", kinds: [:invoke]) == {:ok, false}
      assert Reach.reachable?(source, "a", "x", exclude_signs: [:deny]) == {:ok, false}

      assert Reach.reachable?(source, "srv", "x", kinds: [:invoke, :read], max_hops: 1) ==
               {:ok, false}

      assert Reach.reachable?(source, "srv", "x", max_hops: 1) == {:ok, true}
      assert Reach.dominates?(source, "a", "x", kinds: [:invoke, :read]) == {:ok, true}

      assert Reach.mandatory_pass(source, "x", exclude_signs: [:deny]) ==
               {:ok, MapSet.new(["srv"])}
    end
  end

  test "two entries dominate nothing that they share" do
    graph = graph(@plain)
    assert Reach.mandatory_pass(graph, "x", entries: ["a"]) == {:ok, MapSet.new(["a", "g"])}
    assert Reach.mandatory_pass(graph, "x", entries: ["a", "b"]) == {:ok, MapSet.new(["g"])}
  end

  test "of several edges between two nodes the first is the witness" do
    read = edge("srv", "a", kind: :read)
    graph = graph([], [read, edge("srv", "a", kind: :message), edge("srv", "a")])
    assert {:ok, %{edges: [first]}} = Reach.reachable_without(graph, "srv", "a", [])
    assert first == edge("srv", "a")

    assert {:ok, %{edges: [^read]}} =
             Reach.reachable_without(graph, "srv", "a", [], kinds: [:read])
  end

  test "what is wrong is refused by name" do
    graph = graph(@plain)
    path = &Reach.reachable?(graph, "srv", "x", &1)
    entry = &Reach.mandatory_pass(graph, "x", &1)

    for {answer, refusal} <- [
          {path.(:none), {:invalid, :options, :none}},
          {path.(entries: ["a"]), {:unknown_option, :entries}},
          {entry.(max_hops: 3), {:unknown_option, :max_hops}},
          {path.(kinds: []), {:invalid, :kinds, []}},
          {path.(kinds: [:call]), {:invalid, :kinds, [:call]}},
          {path.(kinds: :invoke), {:invalid, :kinds, :invoke}},
          {path.(exclude_signs: [:no]), {:invalid, :exclude_signs, [:no]}},
          {path.(max_hops: 0), {:invalid, :max_hops, 0}},
          {path.(max_edges: -1), {:invalid, :max_edges, -1}},
          {path.(max_edges: 4), {:cap, :max_edges, 4}},
          {entry.(entries: []), {:invalid, :entries, []}},
          {entry.(entries: ["a", "none"]), {:unknown_node, "none"}},
          {Reach.reachable?(graph, "none", "x"), {:unknown_node, "none"}},
          {Reach.reachable?(graph, "srv", :x), {:unknown_node, :x}},
          {Reach.reachable_without(graph, "srv", "x", ["none"]), {:unknown_node, "none"}},
          {Reach.dominates?(graph, "none", "x"), {:unknown_node, "none"}},
          {Reach.dominates?(graph, "g", "alone"), {:unreachable, "alone"}},
          {Reach.mandatory_pass(graph, "alone"), {:unreachable, "alone"}},
          {Reach.all_paths(graph, "srv", "x"), {:refused, :all_paths}},
          {Reach.reachable?(%{graph | nodes: []}, "srv", "x"),
           {:invalid_graph, {:dangling_edge, "a"}}}
        ] do
      assert answer == {:error, refusal}
    end

    without_server =
      Graph.new!(
        schema_version: 3,
        nodes: [%Node{id: "a", kind: :tool, level: :server}],
        edges: []
      )

    assert Reach.mandatory_pass(without_server, "a") == {:error, {:invalid, :entries, []}}
  end

  test "a graph without canonical bytes is asked all the same, by its ids as they are" do
    node = %Node{id: "s/cafe\u0301", kind: :server, level: :server, labels: %{r: 1.5}}
    graph = Graph.new!(schema_version: 3, nodes: [node], edges: [])
    assert Reach.reachable?(graph, node.id, node.id) == {:ok, true}

    assert Reach.reachable?(graph, "s/caf\u00E9", node.id) ==
             {:error, {:unknown_node, "s/caf\u00E9"}}
  end
end
