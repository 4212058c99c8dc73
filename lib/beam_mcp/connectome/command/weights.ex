defmodule BeamMCP.Connectome.Command.Weights do
  @moduledoc false
  # The weights of a graph that came out of canonical bytes, which have none: they stand in a file
  # beside it.

  alias BeamMCP.Connectome.{Command.Sources, Graph}

  @doc "The graph with the weights that a sidecar's file has for its edges."
  @spec lay!(Graph.t(), Path.t()) :: Graph.t()
  def lay!(graph, file) do
    rows = rows!(Sources.json!(file, "weights"), file)
    weights = for %{"weight" => weight} = row <- rows, into: %{}, do: {key(row), weight}
    edges = for edge <- graph.edges, do: %{edge | weight: weights[key(edge)]}

    # One that finds no edge, or the edge of another, is of another graph.
    unless Enum.count(edges, & &1.weight) == length(rows),
      do: Sources.fail("#{file} has weights of another graph")

    [schema_version: graph.schema_version, nodes: graph.nodes, edges: edges]
    |> Graph.new()
    |> Sources.ok!("#{file} holds no weights")
  end

  defp rows!(%{"weights" => rows}, _file) when is_list(rows), do: rows
  defp rows!(_other, file), do: Sources.fail("#{file} holds no weights")

  defp key(%{from: from, to: to, kind: kind, provenance: provenance}),
    do: {from, to, Atom.to_string(kind), Atom.to_string(provenance)}

  defp key(row), do: {row["from"], row["to"], row["kind"], row["provenance"]}
end
