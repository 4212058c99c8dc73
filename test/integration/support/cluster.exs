defmodule BeamMCP.Test.Cluster do
  @moduledoc false
  # Nodes of other runtimes that serve the host of `BeamMCP.Test.Wire` with one Mnesia.

  alias BeamMCP.Test.Wire

  defstruct [:peer, :node, :port]

  @name :there

  @doc "Starts so many nodes, connected, with an instance each; `options` are those of the instances."
  def start(count, options) do
    System.cmd("epmd", ["-daemon"])
    _started_or_running = Node.start(:"beam_mcp_test_#{System.pid()}@127.0.0.1", :longnames)
    peers = for _ <- 1..count, do: boot()
    nodes = Enum.map(peers, & &1.node)
    for one <- peers, other <- nodes, do: true = call(one, Node, :connect, [other])
    for one <- peers, do: start_mnesia(one, nodes)
    serving = for one <- peers, do: serve(one, options)
    for one <- serving, do: :ok = await_members(one, count)
    serving
  end

  @doc "Starts an instance on a node whose instance was stopped."
  def serve(one, options) do
    defaults = [secrets: [String.duplicate("s", 32)]]
    {:ok, port} = call(one, Wire, :start_apart, [@name, Keyword.merge(defaults, options)])
    call(one, Wire, :listen, [self()])
    %{one | port: port}
  end

  @doc "Runs a function on a node."
  def call(one, module, function, arguments),
    do: :peer.call(one.peer, module, function, arguments, 30_000)

  def info(one), do: call(one, BeamMCP, :info!, [@name])

  @doc "Stops the instance of a node in good order."
  def stop(one), do: call(one, BeamMCP, :stop, [@name])

  @doc "Ends a node as a power cut would."
  def kill(one) do
    pid = call(one, System, :pid, [])
    Process.unlink(one.peer)
    {_output, 0} = System.cmd("kill", ["-9", pid])
    wait_until(fn -> one.node not in Node.list() end)
  end

  def stop_nodes(cluster) do
    for one <- cluster do
      try do
        :peer.stop(one.peer)
      catch
        :exit, _killed -> :ok
      end
    end
  end

  def wait_until(condition, tries \\ 250) do
    cond do
      condition.() -> :ok
      tries == 0 -> raise "it never came true"
      true -> Process.sleep(20) && wait_until(condition, tries - 1)
    end
  end

  defp boot do
    options = %{
      name: :peer.random_name(),
      host: ~c"127.0.0.1",
      longnames: true,
      args: Enum.flat_map(:code.get_path(), &[~c"-pa", &1]),
      connection: :standard_io
    }

    {:ok, peer, node} = :peer.start(options)
    true = Node.connect(node)
    one = %__MODULE__{peer: peer, node: node}
    {:ok, _started} = call(one, Application, :ensure_all_started, [:beam_mcp])
    :ok = call(one, Logger, :configure, [[level: :error]])
    one
  end

  defp start_mnesia(one, nodes) do
    :ok = call(one, Application, :put_env, [:mnesia, :extra_db_nodes, nodes])
    {:ok, _started} = call(one, Application, :ensure_all_started, [:mnesia])
  end

  defp await_members(one, count) do
    wait_until(fn ->
      groups = call(one, :pg, :which_groups, [BeamMCP.Groups])

      groups != [] and
        Enum.all?(groups, &(length(call(one, :pg, :get_members, [BeamMCP.Groups, &1])) == count))
    end)
  end
end
