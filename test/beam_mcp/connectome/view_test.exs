defmodule BeamMCP.Connectome.ViewTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Declared, Diff, Edge, Graph, Part, View}
  alias BeamMCP.Fixture.Declared, as: Fixture
  alias BeamMCP.Native

  setup_all do
    {:ok, declared} =
      Declared.build(server: "fx", modules: Fixture.modules(), catalog: Fixture.Catalog)

    %{declared: declared}
  end

  defp data(html) do
    [_, json] = Regex.run(~r{<script type="application/json" id="data">(.*?)</script>}s, html)
    {:ok, data} = Native.decode(json)
    data
  end

  test "one graph: its parts, its edges, its digest and its bound", %{declared: declared} do
    bound = Declared.Bound.to_map(declared.bound)
    {:ok, html} = View.html(declared: declared.graph, bound: bound)
    data = data(html)

    assert Enum.map(data["nodes"], & &1["id"]) == Enum.map(declared.graph.nodes, & &1.id)
    assert Enum.map(data["nodes"], & &1["status"]) |> Enum.uniq() == [nil]
    assert length(data["edges"]) == length(declared.graph.edges)
    assert Enum.all?(data["edges"], &(&1["class"] == "declared"))
    assert data["declared"]["digest"] == Connectome.digest!(declared.graph)
    assert data["bound"] == bound
    assert data["observed"] == nil
  end

  test "two graphs: what each knows that the other does not", %{declared: declared} do
    observed = graph([{:server, "fx"}, {:tool, "fx", "probe"}])
    {:ok, diff} = Diff.run(declared.graph, observed, window: %{"night" => 7})
    {:ok, html} = View.html(declared: declared.graph, observed: observed, diff: diff)
    data = data(html)
    status = Map.new(data["nodes"], &{&1["id"], &1["status"]})
    assert status["fx/server"] == nil
    assert status["fx/tool/probe"] == "undeclared"
    assert status["fx/tool/echo"] == "unseen"
    assert data["edges"] |> Enum.map(& &1["class"]) |> Enum.uniq() == ["dead"]
    assert data["window"] == %{"night" => 7}
    assert data["coverage"]["declared_edges"] == length(declared.graph.edges)

    {:ok, empty} = View.html(declared: declared.graph, observed: graph([]))
    assert Enum.all?(data(empty)["nodes"], &(&1["status"] == "unseen"))
  end

  test "asks for nothing, and its policy permits its own script alone", %{declared: declared} do
    {:ok, html} = View.html(declared: declared.graph)
    refute html =~ ~r{(src|href)=}
    refute html =~ ~r{\b(fetch|XMLHttpRequest|WebSocket|import)\s*\(}
    [_, script] = Regex.run(~r{</script>\s*<script>(.*)</script>}s, html)
    hash = Base.encode64(:crypto.hash(:sha256, script))
    assert html =~ "default-src 'none'"
    assert html =~ "script-src 'sha256-#{hash}'"
    refute html =~ "{{"
  end

  test "names cannot leave their place" do
    name = "</script><script>alert(1)</script>{{style}}"
    graph = graph([{:tool, "s", name}])
    {:ok, html} = View.html(observed: graph, title: "<b>&")
    assert html =~ "<title>&lt;b&gt;&amp;</title>"
    refute html =~ "<script>alert"
    assert Enum.any?(data(html)["nodes"], &(&1["id"] =~ "alert(1)"))
  end

  test "names turn nothing round, and their edges still meet them" do
    name = "a\u202E\n b"
    nodes = Enum.map([{:server, "s"}, {:tool, "s", name}], &Part.node/1)
    [server, tool] = Enum.map(nodes, & &1.id)
    nodes = Enum.map(nodes, &%{&1 | labels: %{"\u2066k" => ["\e[2K"]}})

    {:ok, edge} = Edge.new(from: server, to: tool, kind: :invoke, provenance: :observed)

    graph = Graph.new!(schema_version: 3, nodes: nodes, edges: [edge])
    {:ok, html} = View.html(observed: graph, bound: %{"\u2067" => ["\u202D"]}, title: "\u202Et")
    refute html =~ ~r/[\x{202A}-\x{202E}\x{2066}-\x{2069}]/u
    assert html =~ "<title>\\u{202E}t</title>"
    data = data(html)
    assert [_server, %{"id" => id, "labels" => labels}] = data["nodes"]
    assert id == "s/tool/a\\u{202E}\\u{A} b"
    assert labels == %{"\\u{2066}k" => ["\\u{1B}[2K"]}
    assert [%{"to" => ^id}] = data["edges"]
    assert data["bound"] == %{"\\u{2067}" => ["\\u{202D}"]}
  end

  test "what is not given is refused", %{declared: declared} do
    assert View.html([]) == {:error, {:missing, :graph}}
    assert View.html(declared: declared.graph, diff: %{}) == {:error, {:missing, :observed}}
    assert View.html(observed: declared.graph, diff: %{}) == {:error, {:missing, :declared}}
    assert View.html(graph: declared.graph) == {:error, {:unknown_key, :graph}}

    assert View.html(declared: declared.graph, algorithm: :md5) ==
             {:error, {:invalid, :algorithm, :md5}}
  end

  defp graph(identities) do
    Graph.new!(schema_version: 3, nodes: Enum.map(identities, &Part.node/1), edges: [])
  end
end
