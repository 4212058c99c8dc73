defmodule BeamMCP.Connectome.Command.Report do
  @moduledoc false
  # What `mix beam_mcp.connectome` tells people: a line for each finding, the sums, the digest. Names
  # cannot leave their line.

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Diff, Effective, Federation, Visible}

  @findings [:observed_but_undeclared, :changed_sign, :declared_never_observed]

  @doc "Drift first, then authority that nobody used."
  @spec difference(Diff.t(), Connectome.algorithm(), String.t()) :: String.t()
  def difference(diff, algorithm, digest) do
    found =
      for class <- @findings,
          label <- Map.fetch!(diff.classes, class),
          do: "#{class}  #{label(label)}\n"

    counts = for {class, labels} <- diff.classes, do: "#{class}: #{length(labels)}\n"
    IO.iodata_to_binary([found, counts, "#{algorithm}: #{digest}\n"])
  end

  @doc "The declared edges by weight, then the observed ones without a declaration, then the sums."
  @spec effective(Effective.t()) :: String.t()
  def effective(effective) do
    weighed = for edge <- effective.graph.edges, edge.weight != nil, do: edge
    placed = for edge <- heaviest(weighed), do: "#{edge.weight}  #{label(edge)}\n"

    unplaced =
      for edge <- heaviest(effective.unplaced),
          do: "undeclared #{edge.weight || "-"}  #{label(edge)}\n"

    sums = for {sum, value} <- Enum.sort(effective.coverage), do: "#{sum}: #{value}\n"
    IO.iodata_to_binary([placed, unplaced, sums])
  end

  @doc "The parts by their number, then what they disagree about."
  @spec federation(Federation.t(), Connectome.algorithm(), String.t()) :: String.t()
  def federation(federation, algorithm, digest) do
    parts =
      for {part, at} <- Enum.with_index(federation.parts),
          do:
            "part #{at}  #{Visible.text(part.member)}  version #{part.schema_version}  #{part.algorithm} #{part.digest}\n"

    edges =
      for conflict <- federation.conflicts.edges,
          do:
            "conflict  #{label(conflict)}  #{claims(conflict, &"#{&1.sign} (#{&1.provenance})")}\n"

    nodes =
      for conflict <- federation.conflicts.nodes,
          do:
            "conflict  #{Visible.text(conflict.id)}  #{field(conflict.field)}  #{claims(conflict, &inspect(&1.value))}\n"

    IO.iodata_to_binary([parts, edges, nodes, "#{algorithm}: #{digest}\n"])
  end

  @doc "The parts of a way, one to a line."
  @spec way([String.t()]) :: String.t()
  def way(ids), do: Enum.map_join(ids, "\n  -> ", &Visible.text/1)

  defp label(edge), do: "#{Visible.text(edge.from)} -> #{Visible.text(edge.to)}  #{edge.kind}"

  defp heaviest(edges), do: Enum.sort_by(edges, &(&1.weight || 0), :desc)

  defp field({:label, key}), do: "label #{Visible.text(key)}"
  defp field(field), do: "#{field}"

  defp claims(conflict, value),
    do: Enum.map_join(conflict.claims, ", ", &"part #{&1.part}: #{value.(&1)}")
end
