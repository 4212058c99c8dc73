defmodule BeamMCP.Changes do
  @moduledoc false
  # Has the clients of every node told of a change.
  #
  # The native library tells those of this node, in the process that knows of the change. One process
  # for each instance is a member of the instance's group and does the same with what the others
  # send. Nothing is stored: a node that is away misses changes, and so do its clients.

  use GenServer

  alias BeamMCP.{Instance, Native}

  @scope BeamMCP.Groups

  # Changes that are taken up at a time: the same one several times is one.
  @batch 1_000

  # How long after the scope's end, which loses the group, it is joined again.
  @rejoin_ms 100

  @doc "The `:pg` scope of all instances of this node."
  @spec scope() :: Supervisor.child_spec()
  def scope, do: %{id: @scope, start: {:pg, :start_link, [@scope]}}

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name), do: GenServer.start_link(__MODULE__, name)

  @doc "Tells the clients of this node, and has the other instances of the namespace tell theirs."
  @spec publish(Instance.t(), Native.change()) :: :ok | {:error, Native.reason()}
  def publish(instance, change) do
    with :ok <- Native.publish(instance.native, change) do
      message = {:beam_mcp, :changed, origin(instance), change}

      for member <- :pg.get_members(@scope, group(instance)),
          do: :erlang.send(member, message, [:noconnect])

      :ok
    end
  end

  @impl GenServer
  def init(name), do: {:ok, name |> Instance.fetch!() |> join()}

  @impl GenServer
  def handle_info({:beam_mcp, :changed, origin, change}, instance) do
    own = origin(instance)
    arrived = [{origin, change} | waiting(@batch)]
    others = for {from, change} <- arrived, from != own, do: change
    for change <- distinct(others), do: tell(instance, change)
    {:noreply, instance}
  end

  def handle_info({:DOWN, _ref, :process, _scope, _reason}, instance) do
    Process.send_after(self(), :join, @rejoin_ms)
    {:noreply, instance}
  end

  def handle_info(:join, instance), do: {:noreply, join(instance)}
  def handle_info(_other, instance), do: {:noreply, instance}

  defp join(instance) do
    Process.monitor(@scope)
    :ok = :pg.join(@scope, group(instance), self())
    instance
  catch
    # There is no scope yet, which the monitor tells.
    :exit, _no_scope -> instance
  end

  # A node of another release may send what this one does not know.
  defp tell(instance, change) do
    Native.publish(instance.native, change)
  rescue
    ArgumentError -> :ok
  end

  defp waiting(0), do: []

  defp waiting(most) do
    receive do
      {:beam_mcp, :changed, origin, change} -> [{origin, change} | waiting(most - 1)]
    after
      0 -> []
    end
  end

  # Of what a session subscribes to, the order counts.
  defp distinct(changes) do
    {ordered, rest} = Enum.split_with(changes, &ordered?/1)
    ordered ++ Enum.uniq(rest)
  end

  defp ordered?({kind, _session, _uri}), do: kind in [:subscribe, :unsubscribe]
  defp ordered?(_change), do: false

  defp group(instance), do: instance.config.namespace
  defp origin(instance), do: {node(), instance.name}
end
