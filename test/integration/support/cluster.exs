defmodule BeamMCP.Test.Cluster do
  @moduledoc false
  # Nodes of other runtimes that serve the host of `BeamMCP.Test.Wire` with one Mnesia.

  import BeamMCP.Test.Until

  alias BeamMCP.Test.{Distribution, Wire}

  defstruct [:peer, :node, :port, :disc]

  @name :there

  @doc """
  Starts so many nodes, connected, with an instance each; `options` are those of the instances. With `disc`, a
  directory, the schema of their Mnesia is in it.
  """
  def start(count, options, disc \\ nil) do
    Distribution.start()
    peers = for _ <- 1..count, do: boot(:peer.random_name(), disc)
    nodes = connect(peers)
    if disc, do: :ok = call(hd(peers), :mnesia, :create_schema, [nodes])
    serve_all(peers, options)
  end

  @doc "Starts nodes again that were killed, with what is left on their discs."
  def reboot(killed, options) do
    peers = for one <- killed, do: boot(name(one.node), one.disc)
    connect(peers)
    serve_all(peers, options)
  end

  @doc "Starts a node again that was killed while `others` went on."
  def rejoin(killed, others, options) do
    one = boot(name(killed.node), killed.disc)
    start_mnesia(one, connect([one | others]))
    serve(one, options)
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

  @doc "Cuts a node off the others, as a network that fails does."
  def cut(one, others) do
    Node.set_cookie(one.node, :cut)
    Node.disconnect(one.node)
    for %{node: other} <- others, do: call(one, :erlang, :set_cookie, [other, :cut])
    for %{node: other} <- others, do: call(one, :erlang, :disconnect_node, [other])
    wait_until(fn -> call(one, Node, :list, []) == [] end)
    for other <- others, do: wait_until(fn -> one.node not in call(other, Node, :list, []) end)
  end

  @doc "Mends what `cut/2` did."
  def mend(one, others) do
    Node.set_cookie(one.node, Node.get_cookie())
    true = Node.connect(one.node)
    for %{node: other} <- others, do: call(one, :erlang, :set_cookie, [other, Node.get_cookie()])
    for %{node: other} <- others, do: true = call(one, Node, :connect, [other])
  end

  @doc "What an operator does with a node that was cut off: its instance, and its Mnesia, are started anew."
  def restart(one, others, options) do
    :ok = stop(one)
    :ok = call(one, Application, :stop, [:mnesia])
    start_mnesia(one, Enum.map(others, & &1.node))
    serve(one, options)
  end

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

  # A node that is cut off by a test is cut off no further by OTP.
  defp boot(name, disc) do
    paths = Enum.flat_map(:code.get_path(), &[~c"-pa", &1])

    options = %{
      name: name,
      host: ~c"127.0.0.1",
      longnames: true,
      args: [~c"-kernel", ~c"prevent_overlapping_partitions", ~c"false" | paths],
      connection: :standard_io
    }

    {:ok, peer, node} = :peer.start(options)
    true = Node.connect(node)
    one = %__MODULE__{peer: peer, node: node, disc: disc}
    {:ok, _started} = call(one, Application, :ensure_all_started, [:beam_mcp])
    :ok = call(one, Logger, :configure, [[level: :error]])
    directory = disc && String.to_charlist(Path.join(disc, Atom.to_string(node)))
    if disc, do: :ok = call(one, Application, :put_env, [:mnesia, :dir, directory])
    one
  end

  defp name(node), do: node |> Atom.to_string() |> String.split("@") |> hd() |> String.to_atom()

  defp connect(peers) do
    nodes = Enum.map(peers, & &1.node)
    for one <- peers, other <- nodes, do: true = call(one, Node, :connect, [other])
    nodes
  end

  defp serve_all(peers, options) do
    nodes = Enum.map(peers, & &1.node)
    for one <- peers, do: start_mnesia(one, nodes)
    serving = for one <- peers, do: serve(one, options)
    for one <- serving, do: :ok = await_members(one, length(peers))
    serving
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
