defmodule BeamMCP.Connectome.EffectiveTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Edge, Effective, Graph, Node}

  test "observed weights stand on declared edges, outside every digest" do
    nodes = for id <- ["a", "b", "c"], do: %Node{id: id, kind: :tool, level: :server}

    edge = fn {from, to, weight}, provenance ->
      Edge.new!(from: from, to: to, kind: :invoke, provenance: provenance, weight: weight)
    end

    graph = fn edges, provenance ->
      Graph.new!(schema_version: 3, nodes: nodes, edges: Enum.map(edges, &edge.(&1, provenance)))
    end

    declared = graph.([{"a", "b", nil}, {"b", "c", 9}], :declared)
    observed = graph.([{"a", "b", 4}, {"a", "c", 2 ** 70}, {"c", "a", nil}], :observed)

    assert {:ok, effective} = Effective.project(declared, observed)
    assert Enum.map(effective.graph.edges, & &1.weight) == [4, nil]
    assert Enum.map(effective.unplaced, & &1.weight) == [2 ** 70, nil]

    assert effective.coverage == %{
             declared_edges: 2,
             weighted_edges: 1,
             unplaced_edges: 2,
             placed_weight: 4,
             unplaced_weight: 2 ** 70
           }

    assert Connectome.digest!(effective.graph) == Connectome.digest!(declared)
    assert {:ok, sidecar} = Connectome.sidecar(effective.graph)
    assert sidecar =~ ~s("weight":4})

    assert Effective.project(observed, declared) ==
             {:error, {:declared, {:invalid, :provenance, :observed}}}
  end
end
