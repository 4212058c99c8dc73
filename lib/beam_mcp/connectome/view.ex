defmodule BeamMCP.Connectome.View do
  @moduledoc """
  A graph, or two and their difference, as one HTML file for people.

  The file asks for nothing: no network, no library, and a policy inside that forbids both. It draws
  the parts in columns by their distance from the server, and beside them the difference and the
  completeness bound; it can be searched, filtered, zoomed and walked through with the keyboard, in
  light and dark. Drift and dead authority differ from the rest by the dashes and heads of their lines
  and by signs in the lists, not by colour alone. What names hold beside visible characters - controls,
  marks that turn text round - is shown by its number, as `\\u{202E}`.
  """

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Fields, Graph, Visible}
  alias BeamMCP.Native

  @folder Path.join(__DIR__, "view")
  @page_file Path.join(@folder, "page.html")
  @style_file Path.join(@folder, "view.css")
  @script_files Enum.map(["layout.js", "page.js"], &Path.join(@folder, &1))

  for file <- [@page_file, @style_file | @script_files], do: @external_resource(file)

  @style File.read!(@style_file)
  @script Enum.map_join(@script_files, "\n", &File.read!/1)

  @page File.read!(@page_file)
  @classes [
    declared_and_observed: "both",
    declared_never_observed: "dead",
    observed_but_undeclared: "drift",
    changed_sign: "changed"
  ]

  @doc """
  The file.

    * `:declared`, `:observed` - graphs, at least one of them
    * `:diff` - the difference of the two; then both are needed
    * `:bound` - the bound of the declared graph, as `BeamMCP.Connectome.Declared.Bound.to_map/1`
      gives it
    * `:title` - "Connectome" unless given
    * `:algorithm` - of the digests that are shown

  Returns what `BeamMCP.Connectome.digest/2` refuses, `{:missing, :graph}` and
  `{:invalid, key, value}`.
  """
  @spec html(keyword()) :: {:ok, binary()} | {:error, term()}
  def html(options) do
    with :ok <-
           Fields.check(options, [], [:declared, :observed, :diff, :bound, :title, :algorithm]),
         :ok <- graphs(options[:declared], options[:observed], options[:diff]),
         algorithm = Keyword.get(options, :algorithm, :sha256),
         {:ok, declared} <- digest(options[:declared], algorithm),
         {:ok, observed} <- digest(options[:observed], algorithm),
         shown = options |> data(declared, observed) |> Visible.term(),
         {:ok, json} <- Native.encode(shown) do
      {:ok, page(Keyword.get(options, :title, "Connectome"), inert(json))}
    end
  end

  # Nothing that is put in is looked at again.
  defp page(title, data) do
    parts = %{
      "title" => title |> Visible.text() |> escape(),
      "style" => @style,
      "script" => @script,
      "script_hash" => "sha256-" <> Base.encode64(:crypto.hash(:sha256, @script)),
      "data" => data
    }

    Regex.replace(~r/{{(\w+)}}/, @page, fn _whole, name -> Map.fetch!(parts, name) end)
  end

  defp graphs(nil, nil, _diff), do: {:error, {:missing, :graph}}
  defp graphs(nil, _observed, diff) when diff != nil, do: {:error, {:missing, :declared}}
  defp graphs(_declared, nil, diff) when diff != nil, do: {:error, {:missing, :observed}}
  defp graphs(_declared, _observed, _diff), do: :ok

  defp digest(nil, _algorithm), do: {:ok, nil}

  defp digest(%Graph{} = graph, algorithm) do
    with {:ok, digest} <- Connectome.digest(graph, algorithm: algorithm) do
      {:ok, %{digest: digest, algorithm: algorithm, schema_version: graph.schema_version}}
    end
  end

  defp data(options, declared, observed) do
    %{
      declared: declared,
      observed: observed,
      nodes: nodes(options[:declared], options[:observed]),
      edges: edges(options[:diff], options[:declared], options[:observed]),
      coverage: options[:diff] && options[:diff].coverage,
      window: options[:diff] && options[:diff].window,
      bound: options[:bound]
    }
  end

  defp nodes(declared, observed) do
    {declared, observed} = sides = {by_id(declared), by_id(observed)}

    for {id, node} <- Map.merge(observed || %{}, declared || %{}) do
      %{
        id: id,
        kind: node.kind,
        level: node.level,
        labels: node.labels,
        status: status(id, sides)
      }
    end
    |> Enum.sort_by(& &1.id)
  end

  defp by_id(nil), do: nil
  defp by_id(graph), do: Map.new(graph.nodes, &{nfc(&1.id), &1})

  # One graph alone says nothing about the other.
  defp status(_id, {declared, observed}) when declared == nil or observed == nil, do: nil

  defp status(id, {declared, observed}) do
    cond do
      not is_map_key(observed, id) -> "unseen"
      not is_map_key(declared, id) -> "undeclared"
      true -> nil
    end
  end

  defp edges(nil, declared, observed) do
    for graph <- [declared, observed], graph != nil, edge <- graph.edges do
      %{from: nfc(edge.from), to: nfc(edge.to), kind: edge.kind, weight: edge.weight}
      |> Map.put(:class, edge.provenance)
    end
  end

  defp edges(diff, _declared, observed) do
    weights = Map.new(observed.edges, &{{nfc(&1.from), nfc(&1.to), &1.kind}, &1.weight})

    for {class, short} <- @classes, label <- Map.fetch!(diff.classes, class) do
      weight = Map.get(weights, {label.from, label.to, label.kind})
      Map.merge(label, %{class: short, weight: weight})
    end
  end

  # As the difference compares ids.
  defp nfc(id), do: :unicode.characters_to_nfc_binary(id)

  # Nothing in it can end the element that it stands in.
  defp inert(json), do: String.replace(json, "<", "\\u003c")

  defp escape(text) do
    for <<character <- text>>, into: "" do
      case character do
        ?& -> "&amp;"
        ?< -> "&lt;"
        ?> -> "&gt;"
        other -> <<other>>
      end
    end
  end
end
