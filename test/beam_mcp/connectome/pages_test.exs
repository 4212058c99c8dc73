defmodule BeamMCP.Connectome.PagesTest do
  # What the pages show is what the library writes, and what its task says.
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.Command.Report
  alias BeamMCP.Connectome.{Diff, Edge, Effective, Federation, Graph, Node}
  alias BeamMCP.Test.Docs

  @server %Node{id: "s/server", kind: :server, level: :server}
  @tool %Node{id: "s/tool/t", kind: :tool, level: :server, labels: %{mode: :read_only}}
  @edge %Edge{from: "s/server", to: "s/tool/t", kind: :invoke, provenance: :declared}

  defp graph(fields \\ []),
    do: Graph.new!(schema_version: 3, nodes: [@server, @tool], edges: [struct!(@edge, fields)])

  test "the page on bytes" do
    rows =
      for {version, algorithm} <- [
            {3, :sha256},
            {3, :sha384},
            {3, :sha512},
            {2, :sha256},
            {1, :sha256}
          ] do
        options = [schema_version: version, algorithm: algorithm]
        size = byte_size(Connectome.encode!(graph(), options))
        "| #{version} | #{algorithm} | #{size} | `#{Connectome.digest!(graph(), options)}` |\n"
      end

    table = ["| version | algorithm | bytes | digest |\n|---|---|---|---|\n" | rows]

    assert example("canonical") ==
             IO.iodata_to_binary([block(Connectome.encode!(graph())), "\n", table])
  end

  test "the page on differences" do
    {:ok, diff} = Diff.run(graph(), graph(provenance: :observed), window: %{})
    {:ok, bytes} = Diff.encode(diff)
    assert example("diff") == block(bytes)
  end

  test "the page on differences: effective weights" do
    declared = shop([find: nil, order: nil, refund: nil], :declared)
    observed = shop([find: 2, probe: 1], :observed)
    {:ok, effective} = Effective.project(declared, observed)
    assert [_record, shown] = Docs.blocks("docs/connectome-diff.md", ["text"])
    assert shown.text == Report.effective(effective)
  end

  test "the page on federations" do
    parts = [{"a@host", graph(sign: :allow)}, {"b@host", graph(sign: :hold)}]
    {:ok, federation} = Federation.merge(parts)
    {:ok, bytes} = Federation.encode(federation)
    assert example("federation") == block(bytes)
    {:ok, digest} = Federation.digest(federation)
    [shown, _record] = Docs.blocks("docs/connectome-federation.md", ["text"])
    assert shown.text == Report.federation(federation, :sha256, digest)
  end

  test "a name cannot write lines of its own into a report" do
    forged = "find  invoke\ndeclared_never_observed: 0\e[1A"
    declared = shop([find: nil], :declared)
    observed = shop([{forged, 1}], :observed)
    {:ok, diff} = Diff.run(declared, observed, window: %{})
    {:ok, effective} = Effective.project(declared, observed)
    parts = [{"a\nb", signed(declared, :allow)}, {"c", signed(declared, :hold)}]
    {:ok, federation} = Federation.merge(parts)

    for {text, lines} <- [
          {Report.difference(diff, :sha256, "d"), 2 + 4 + 1},
          {Report.effective(effective), 1 + map_size(effective.coverage)},
          {Report.federation(federation, :sha256, "d"), 2 + 1 + 1},
          {Report.way([forged, forged]), 2}
        ] do
      assert length(String.split(text, "\n", trim: true)) == lines, text
      refute text =~ "\e"
    end
  end

  defp signed(graph, sign) do
    edges = for edge <- graph.edges, do: %{edge | sign: sign}
    Graph.new!(schema_version: 3, nodes: graph.nodes, edges: edges)
  end

  # A shop's server, which invokes these tools.
  defp shop(tools, provenance) do
    server = %{@server | id: "shop/server"}
    nodes = for {tool, _weight} <- tools, do: %{@tool | id: "shop/tool/#{tool}"}

    edges =
      for {tool, weight} <- tools do
        ends = %{@edge | from: server.id, to: "shop/tool/#{tool}"}
        %{ends | provenance: provenance, weight: weight}
      end

    Graph.new!(schema_version: 3, nodes: [server | nodes], edges: edges)
  end

  defp block(bytes), do: "```text\n#{bytes}\n```\n"

  defp example(page) do
    text = File.read!("docs/connectome-#{page}.md")
    [_all, example] = Regex.run(~r/<!-- example -->\n(.*)<!-- \/example -->/s, text)
    example
  end
end
