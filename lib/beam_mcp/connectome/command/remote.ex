defmodule BeamMCP.Connectome.Command.Remote do
  @moduledoc false
  # Asks the collectors of running nodes, as a hidden node of its own.

  alias BeamMCP.Connectome.{Cluster, Command.Sources, Graph, Observed}

  @timeout_ms 10_000

  @doc "The graph and the window of the collector on the one node that the options name."
  @spec observed!(keyword()) :: {Graph.t(), map()}
  def observed!(options) do
    with [_one, _other | _more] <- nodes!(options),
         do: Sources.fail("--node is one node here; federate takes several")

    [{node, graph}] = parts!(options)
    {graph, window!(String.to_existing_atom(node), collector!(options))}
  end

  @doc "What the collectors on all nodes that the options name have seen."
  @spec parts!(keyword()) :: [Cluster.part()]
  def parts!(options) do
    nodes = nodes!(options)
    collector = collector!(options)
    Enum.each(nodes, &connect!(&1, options[:cookie]))

    case Cluster.observed(nodes, collector) do
      {:ok, parts, []} -> parts
      {:ok, _parts, [{node, reason} | _more]} -> Sources.fail("#{node}: #{inspect(reason)}")
    end
  end

  defp nodes!(options) do
    case Keyword.get_values(options, :node) do
      [] -> Sources.fail("--node is missing, or --observed with a file")
      names -> names |> Enum.map(&String.to_atom/1) |> Enum.uniq()
    end
  end

  defp collector!(options) do
    collector = options[:collector] || Sources.fail("--collector is missing")
    Sources.atom!(collector)
  end

  defp window!(node, collector) do
    node
    |> :erpc.call(Observed, :window, [collector], @timeout_ms)
    |> Sources.ok!("#{node} has no window")
  end

  defp connect!(node, _cookie) when node == node(), do: :ok

  defp connect!(node, cookie) do
    unless Node.alive?(), do: start!(node)
    if cookie, do: Node.set_cookie(node, String.to_atom(cookie))

    unless Node.connect(node) == true,
      do: Sources.fail("#{node} does not answer: is it running, and is --cookie its cookie?")
  end

  # Long names only reach long names.
  defp start!(node) do
    [_name, host] = node |> Atom.to_string() |> String.split("@", parts: 2)
    domain = if String.contains?(host, "."), do: :longnames, else: :shortnames
    suffix = if domain == :longnames, do: "@127.0.0.1", else: ""
    name = :"beam_mcp_connectome_#{System.pid()}#{suffix}"

    case :net_kernel.start(name, %{name_domain: domain, hidden: true}) do
      {:ok, _pid} -> :ok
      {:error, reason} -> Sources.fail("no node of our own could start: #{inspect(reason)}")
    end
  rescue
    MatchError -> Sources.fail("--node takes NAME@HOST, got #{node}")
  end
end
