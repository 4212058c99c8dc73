defmodule BeamMCP.Integration.ConnectomePythonTest do
  # Random graphs, and an implementation in another language that was written from the page.
  use ExUnit.Case, async: true

  alias BeamMCP.{Connectome, Native}
  alias BeamMCP.Connectome.{Edge, Federation, Graph, Node}

  @moduletag :integration

  # Letters that compose, that sort differently by code point and by UTF-16, and that are escaped.
  @letters ["a", "b", "Z", "/", "\"", "\\", "\n", "\d", <<1>>, "e\u0301", "\u00E9", "\u212B"] ++
             ["\uFB33", "\u1112\u1161\u11AB", "q\u0307\u0323", "\uFF01", "\u{1F600}", "\uE000"]

  setup do
    :rand.seed(:exsss, {ExUnit.configuration()[:seed], 1, 2})
    :ok
  end

  test "a thousand random graphs have the digests that Python computes" do
    assert confirmed(1_000, &one/0) == 1_000
  end

  test "so have federations, whatever their members disagree about" do
    assert confirmed(200, &several/0) == 200
  end

  defp confirmed(count, one) do
    file = Path.join(System.tmp_dir!(), "connectome-#{System.unique_integer([:positive])}.jsonl")
    on_exit(fn -> File.rm(file) end)
    File.write!(file, for(_number <- 1..count, do: [encoded(one.()), ?\n]))

    command = "python3 test/support/canonical.py < #{file}"
    assert {output, 0} = System.cmd("sh", ["-c", command], stderr_to_stdout: true)
    output |> String.trim() |> String.to_integer()
  end

  defp encoded(term) do
    {:ok, json} = Native.encode(term)
    json
  end

  defp one do
    graph = graph(Enum.random([1, 2, 3]))
    algorithm = if graph.schema_version == 3, do: algorithm(), else: :sha256
    digest = Connectome.digest!(graph, algorithm: algorithm)
    %{graph: plain(graph), algorithm: algorithm, digest: digest}
  end

  # The second graph of a member is like the first, so that there is something to disagree about.
  defp several do
    graph = graph(Enum.random([1, 2, 3]))
    members = Enum.uniq_by(for(_member <- 1..3, do: text()), &String.normalize(&1, :nfc))

    parts =
      for member <- members, graph <- Enum.uniq([graph, changed(graph)]), do: {member, graph}

    algorithm = algorithm()
    {:ok, federation} = Federation.merge(Enum.shuffle(parts), algorithm: algorithm)
    {:ok, bytes} = Federation.encode(federation, algorithm: algorithm)
    {:ok, digest} = Federation.digest(federation, algorithm: algorithm)
    assert {:ok, %{digest: ^digest}} = Connectome.verify(bytes)
    parts = for {member, graph} <- parts, do: [member, plain(graph)]
    %{parts: parts, algorithm: algorithm, digest: digest}
  end

  defp changed(graph) do
    nodes =
      for node <- graph.nodes,
          do: %{node | kind: Enum.random([:tool, :prompt]), labels: labels(1)}

    edges = for edge <- graph.edges, do: %{edge | sign: sign(graph.schema_version)}
    Graph.new!(schema_version: graph.schema_version, nodes: nodes, edges: edges)
  end

  defp algorithm, do: Enum.random([:sha256, :sha384, :sha512])

  defp graph(version) do
    ids = Enum.uniq_by(for(_node <- 1..:rand.uniform(8), do: text()), &String.normalize(&1, :nfc))

    nodes =
      for id <- ids do
        kind = Enum.random([:server, :tool, :resource, :prompt, :process, :module])
        level = Enum.random([:mfa, :module, :boundary, :server])
        %Node{id: id, kind: kind, level: level, labels: labels(2)}
      end

    keys =
      for _edge <- 0..:rand.uniform(12) do
        kind = Enum.random([:invoke, :read, :message, :supervise])
        {Enum.random(ids), Enum.random(ids), kind, Enum.random([:declared, :observed])}
      end

    edges =
      for {from, to, kind, provenance} <- Enum.uniq(keys) do
        %Edge{from: from, to: to, kind: kind, provenance: provenance, sign: sign(version)}
      end

    Graph.new!(schema_version: version, nodes: Enum.shuffle(nodes), edges: Enum.shuffle(edges))
  end

  defp sign(1), do: Enum.random([:allow, :deny, :hold, :unknown])
  defp sign(_version), do: Enum.random([:allow, :deny, :hold, :ungoverned, :unset])

  defp labels(depth) do
    pairs = for _label <- 1..:rand.uniform(4), do: {text(), value(depth)}
    pairs |> Enum.uniq_by(fn {key, _value} -> String.normalize(key, :nfc) end) |> Map.new()
  end

  defp value(0), do: Enum.random([nil, true, false, text(), integer()])

  defp value(depth) do
    case :rand.uniform(4) do
      1 -> for _item <- 1..:rand.uniform(3), do: value(depth - 1)
      2 -> labels(depth - 1)
      3 -> Enum.random([[], %{}])
      4 -> value(0)
    end
  end

  defp integer, do: Enum.random([0, -1, 7, 2 ** 53 + 1, -(2 ** 64), 10 ** 40])

  defp text, do: for(_letter <- 1..:rand.uniform(5), into: "", do: Enum.random(@letters))

  # Without weights, which are no part of the bytes.
  defp plain(graph) do
    nodes = Enum.map(graph.nodes, &Map.from_struct/1)
    edges = Enum.map(graph.edges, &Map.drop(Map.from_struct(&1), [:weight]))
    %{schema_version: graph.schema_version, nodes: nodes, edges: edges}
  end
end
