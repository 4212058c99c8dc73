defmodule BeamMCP.Integration.ConnectomePythonTest do
  # Random graphs, and an implementation in another language that was written from the page.
  use ExUnit.Case, async: true

  alias BeamMCP.{Connectome, Native}
  alias BeamMCP.Connectome.{Edge, Graph, Node}

  @moduletag :integration

  @count 1_000
  # Letters that compose, that sort differently by code point and by UTF-16, and that are escaped.
  @letters ["a", "b", "Z", "/", "\"", "\\", "\n", "\d", <<1>>, "e\u0301", "\u00E9", "\u212B"] ++
             ["\uFB33", "\u1112\u1161\u11AB", "q\u0307\u0323", "\uFF01", "\u{1F600}", "\uE000"]

  test "a thousand random graphs have the digests that Python computes" do
    seed = ExUnit.configuration()[:seed]
    :rand.seed(:exsss, {seed, 1, 2})
    cases = for _number <- 1..@count, do: [one(), ?\n]
    file = Path.join(System.tmp_dir!(), "connectome-#{System.unique_integer([:positive])}.jsonl")
    on_exit(fn -> File.rm(file) end)
    File.write!(file, cases)

    command = "python3 test/support/canonical.py < #{file}"
    assert {output, 0} = System.cmd("sh", ["-c", command], stderr_to_stdout: true)
    assert String.trim(output) == "#{@count}"
  end

  defp one do
    graph = graph(Enum.random([1, 2, 3]))

    algorithm =
      if graph.schema_version == 3, do: Enum.random([:sha256, :sha384, :sha512]), else: :sha256

    digest = Connectome.digest!(graph, algorithm: algorithm)
    {:ok, json} = Native.encode(%{graph: plain(graph), algorithm: algorithm, digest: digest})
    json
  end

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
