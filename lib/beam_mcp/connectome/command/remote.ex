defmodule BeamMCP.Connectome.Command.Remote do
  @moduledoc false
  # Asks the collector of a running node, as a hidden node of its own.

  alias BeamMCP.Connectome.{Cluster, Command.Sources, Graph, Observed}

  @timeout_ms 10_000

  @doc "The graph and the window of the collector that the options name."
  @spec observed!(keyword()) :: {Graph.t(), map()}
  def observed!(options) do
    node = options |> needed!(:node) |> String.to_atom()
    collector = options |> needed!(:collector) |> Sources.atom!()
    connect!(node, options[:cookie])

    case Cluster.observed([node], collector) do
      {:ok, [{_member, graph}], []} -> {graph, window!(node, collector)}
      {:ok, [], [{_node, reason}]} -> Sources.fail("#{node}: #{inspect(reason)}")
    end
  end

  defp needed!(options, key), do: options[key] || Sources.fail("--#{key} is missing")

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
