defmodule BeamMCP.Connectome.Cluster do
  @moduledoc """
  Graphs of several nodes, fetched over Erlang distribution for
  `BeamMCP.Connectome.Federation.merge/2`.

      {:ok, parts, []} = BeamMCP.Connectome.Cluster.observed([node() | Node.list()], MyApp.Observed)
      {:ok, federation} = BeamMCP.Connectome.Federation.merge(parts)

  A part is the name of the node that asserts it, and the graph. A node that does not answer, or answers something else
  than a graph, is among the failures: nothing is left out in silence. What other nodes send is
  checked as if a client had sent it.
  """

  alias BeamMCP.Connectome.{Declared, Graph, Observed}

  @timeout_ms 10_000
  @max_edges 100_000

  @typedoc "What one node asserts."
  @type part :: {member :: String.t(), Graph.t()}

  @typedoc "A node and why it has no part."
  @type failure :: {node(), term()}

  @typedoc "`:timeout_ms` for all nodes together (10,000), `:max_edges` of one graph (100,000)."
  @type options :: [timeout_ms: pos_integer(), max_edges: pos_integer()]

  @doc "What collectors of the name `collector` have seen on each node."
  @spec observed([node()], atom(), options()) :: {:ok, [part()], [failure()]}
  def observed(nodes, collector, options \\ []),
    do: fetch(nodes, {Observed, :snapshot, [collector]}, options, & &1)

  @doc "What each node declares of itself, built there with the options of `BeamMCP.Connectome.Declared.build/1`."
  @spec declared([node()], keyword(), options()) :: {:ok, [part()], [failure()]}
  def declared(nodes, build, options \\ []) do
    fetch(nodes, {Declared, :build, [build]}, options, fn
      %Declared{graph: graph} -> graph
      other -> other
    end)
  end

  defp fetch(nodes, {module, function, arguments}, options, graph) do
    options = Keyword.validate!(options, timeout_ms: @timeout_ms, max_edges: @max_edges)
    answers = :erpc.multicall(nodes, module, function, arguments, options[:timeout_ms])

    {parts, failures} =
      nodes
      |> Enum.zip(answers)
      |> Enum.map(fn {node, answer} -> part(node, answer, graph, options[:max_edges]) end)
      |> Enum.split_with(&match?({_member, %Graph{}}, &1))

    {:ok, parts, failures}
  end

  defp part(node, {:ok, {:ok, answer}}, graph, max_edges) do
    with %Graph{schema_version: version, nodes: nodes, edges: edges} <- graph.(answer),
         :ok <- bounded(edges, max_edges),
         {:ok, graph} <- Graph.new(schema_version: version, nodes: nodes, edges: edges) do
      {Atom.to_string(node), graph}
    else
      {:error, reason} -> {node, reason}
      _other -> {node, :no_graph}
    end
  end

  defp part(node, {:ok, {:error, reason}}, _graph, _max_edges), do: {node, reason}
  defp part(node, {:ok, _other}, _graph, _max_edges), do: {node, :no_graph}
  defp part(node, {:error, {:erpc, reason}}, _graph, _max_edges), do: {node, reason}
  defp part(node, {_class, _reason}, _graph, _max_edges), do: {node, :failed}
  defp part(node, {_class, _reason, _stacktrace}, _graph, _max_edges), do: {node, :failed}

  defp bounded(edges, max) when is_list(edges) and length(edges) > max,
    do: {:error, {:cap, :max_edges, max}}

  defp bounded(_edges, _max), do: :ok
end
