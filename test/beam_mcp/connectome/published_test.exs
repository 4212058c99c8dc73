defmodule BeamMCP.Connectome.PublishedTest do
  # What an earlier implementation wrote, known here by its digests alone: of graphs as they stand
  # in the table, and of those that the builders make of the same modules and the same uses.
  use ExUnit.Case, async: true

  alias BeamMCP.{Connectome, ConnectomeVectors}
  alias BeamMCP.Connectome.{Declared, Diff, Graph, Observed}
  alias BeamMCP.Fixture.Declared, as: Fixture

  @table ConnectomeVectors.read("published")

  for row <- @table["digests"] do
    test "#{row["of"]} as #{row["as"]} of version #{row["schema_version"]}, #{row["algorithm"]}" do
      row = unquote(Macro.escape(row))
      version = row["schema_version"]
      graph = graph(row["of"], version)
      {:ok, index} = Graph.index(graph)

      for source <- [graph, index],
          do: assert(digest(row, source, graph("observed", version)) == row["digest"])
    end
  end

  test "the builders' own" do
    declared = declared()
    observed = observed()

    for %{"of" => of, "algorithm" => "sha256"} = row <- @table["digests"], of != "golden" do
      source = %{"declared" => declared, "observed" => observed}[of]
      version = row["schema_version"]
      assert digest(row, %{source | schema_version: version}, observed) == row["digest"]
    end
  end

  defp digest(%{"as" => "graph"} = row, source, _observed),
    do: Connectome.digest!(source, algorithm: String.to_existing_atom(row["algorithm"]))

  defp digest(%{"as" => "sidecar"}, source, _observed), do: sha256(Connectome.sidecar(source))
  defp digest(%{"as" => "graphml"}, source, _observed), do: sha256(Connectome.graphml(source))

  defp digest(%{"as" => "diff"} = row, source, observed) do
    options = [window: @table["window"], schema_version: row["schema_version"]]
    {:ok, diff} = Diff.run(source, observed, options)
    {:ok, digest} = Diff.digest(diff)
    digest
  end

  defp sha256({:ok, bytes}), do: :sha256 |> :crypto.hash(bytes) |> Base.encode16(case: :lower)

  defp graph(name, version) do
    graph = ConnectomeVectors.graph(%{@table["graphs"][name] | "schema_version" => version})
    neutral = if version == 1, do: :unknown, else: :unset
    %{graph | edges: Enum.map(graph.edges, &%{&1 | sign: neutral})}
  end

  defp declared do
    tools = %{"echo" => Fixture.Alpha}
    build = [server: "fx", modules: Fixture.modules(), catalog: Fixture.Catalog]
    {:ok, declared} = Declared.build([tool_modules: tools] ++ build)
    declared.graph
  end

  defp observed do
    start_supervised!({Observed, name: __MODULE__, instances: []})

    for tool <- ~w(echo echo probe write echo),
        do: Observed.observe(__MODULE__, {:server, "fx"}, {:tool, "fx", tool}, :invoke)

    {:ok, graph} = Observed.snapshot(__MODULE__)
    graph
  end
end
