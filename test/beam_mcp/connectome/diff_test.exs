defmodule BeamMCP.Connectome.DiffTest do
  use ExUnit.Case, async: true

  alias BeamMCP.{Connectome, ConnectomeVectors}
  alias BeamMCP.Connectome.{Diff, Edge, Graph, Node}

  for vector <- ConnectomeVectors.read("diffs") do
    test "the record of #{vector["name"]}" do
      vector = unquote(Macro.escape(vector))
      declared = ConnectomeVectors.graph(vector["declared"])
      {:ok, observed} = vector["observed"] |> ConnectomeVectors.graph() |> Graph.index()
      window = ConnectomeVectors.value(vector["window"])
      algorithm = String.to_atom(vector["algorithm"] || "sha256")
      version = vector["record_version"]

      assert {:ok, diff} = Diff.run(declared, observed, window: window, schema_version: version)

      assert Diff.encode(diff, algorithm: algorithm) == {:ok, vector["bytes_utf8"]}
      assert Diff.digest(diff, algorithm: algorithm) == {:ok, vector["digest"]}
      assert record(diff, algorithm) == {:ok, vector["bytes_utf8"]}

      assert Diff.drift?(diff) ==
               (diff.classes.observed_but_undeclared ++ diff.classes.changed_sign != [])
    end
  end

  # The record that the fields spell out, by the rules of any other value.
  defp record(diff, algorithm) do
    record = Map.take(diff, [:classes, :coverage, :schema_version, :window])
    record = if diff.schema_version == 3, do: Map.put(record, :algorithm, algorithm), else: record
    Connectome.encode_value(record)
  end

  test "what is wrong is refused in order" do
    node = %Node{id: "s", kind: :server, level: :server}
    edge = &%Edge{from: "s", to: "s", kind: :invoke, provenance: &1}
    graph = &%Graph{schema_version: 3, nodes: [node], edges: &1}
    declared = graph.([edge.(:declared)])
    observed = graph.([edge.(:observed)])
    broken = graph.([%{edge.(:declared) | to: "t"}])
    float = %{declared | nodes: [%{node | labels: %{r: 1.0}}]}

    for {left, right, options, refusal} <- [
          {broken, broken, %{}, {:invalid, :opts, %{}}},
          {broken, broken, [windows: 1, x: 2], {:invalid, :opts, [:windows, :x]}},
          {broken, broken, [schema_version: 4], {:invalid, :schema_version, 4}},
          {broken, broken, [], {:declared, {:dangling_edge, "t"}}},
          {float, broken, [], {:declared, {:uncanonical, {:label_value, "s", "r", 1.0}}}},
          {observed, broken, [], {:declared, {:invalid, :provenance, :observed}}},
          {declared, broken, [], {:observed, {:dangling_edge, "t"}}},
          {declared, declared, [], {:observed, {:invalid, :provenance, :declared}}},
          {declared, observed, [], {:missing, :window}},
          {declared, observed, [window: nil],
           {:uncanonical, {:label_value, "record", :window, nil}}},
          {declared, observed, [window: %{at: 1.5}],
           {:uncanonical, {:label_value, "record", :window, %{at: 1.5}}}}
        ] do
      assert Diff.run(left, right, options) == {:error, refusal}
    end

    {:ok, diff} = Diff.run(declared, observed, window: %{})
    assert Diff.encode(diff, algorithm: :md5) == {:error, {:invalid, :algorithm, :md5}}
    refute Diff.drift?(diff)
  end
end
