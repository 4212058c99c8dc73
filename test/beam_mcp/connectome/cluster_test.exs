defmodule BeamMCP.Connectome.ClusterTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome.{Cluster, Declared, Observed}

  setup context do
    name = Module.concat(__MODULE__, "C#{System.unique_integer([:positive])}")
    start_supervised!({Observed, name: name, instances: []})
    %{name: name, here: Atom.to_string(node()), test: context.test}
  end

  test "each node's graph is a part, and each failure is told", %{name: name, here: here} do
    :ok = Observed.observe(name, {:server, "s"}, {:tool, "s", :t}, :invoke)
    {:ok, graph} = Observed.snapshot(name)

    assert Cluster.observed([node(), :nobody@nowhere], name) ==
             {:ok, [{here, graph}], [nobody@nowhere: :noconnection]}
  end

  test "a node without the collector has no part" do
    assert Cluster.observed([node()], No.Such) == {:ok, [], [{node(), :not_started}]}
  end

  test "a graph over the bound is no part", %{name: name} do
    for tool <- [:a, :b], do: Observed.observe(name, {:server, "s"}, {:tool, "s", tool}, :invoke)

    assert Cluster.observed([node()], name, max_edges: 1) ==
             {:ok, [], [{node(), {:cap, :max_edges, 1}}]}
  end

  test "what nodes declare is built there", %{here: here} do
    build = [server: "s", modules: [Enum]]
    {:ok, %{graph: graph}} = Declared.build(build)
    assert Cluster.declared([node()], build) == {:ok, [{here, graph}], []}

    assert Cluster.declared([node()], server: "s") == {:ok, [], [{node(), {:missing, :scope}}]}
  end
end
