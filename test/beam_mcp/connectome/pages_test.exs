defmodule BeamMCP.Connectome.PagesTest do
  # The bytes that the pages show are those that the library writes.
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Diff, Edge, Federation, Graph, Node}

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

  test "the page on federations" do
    parts = [{"a@host", graph(sign: :allow)}, {"b@host", graph(sign: :hold)}]
    {:ok, federation} = Federation.merge(parts)
    {:ok, bytes} = Federation.encode(federation)
    assert example("federation") == block(bytes)
  end

  defp block(bytes), do: "```text\n#{bytes}\n```\n"

  defp example(page) do
    text = File.read!("docs/connectome-#{page}.md")
    [_all, example] = Regex.run(~r/<!-- example -->\n(.*)<!-- \/example -->/s, text)
    example
  end
end
