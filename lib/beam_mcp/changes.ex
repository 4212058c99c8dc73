defmodule BeamMCP.Changes do
  @moduledoc false
  # Has the clients of every node told of a change.
  #
  # The native library tells those of this node, in the process that knows of the change. One process
  # for each instance is a member of the instance's group and does the same with what the others
  # send. Nothing is stored: a node that is away misses changes, and so do its clients.

  use GenServer

  alias BeamMCP.{Group, Instance, Native}

  # Changes that are taken up at a time: the same one several times is one.
  @batch 1_000

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name), do: GenServer.start_link(__MODULE__, name)

  @doc "Tells the clients of this node, and has the other instances of the namespace tell theirs."
  @spec publish(Instance.t(), Native.change()) :: :ok | {:error, Native.reason()}
  def publish(instance, change) do
    with :ok <- Native.publish(instance.native, change) do
      message = {:beam_mcp, :changed, origin(instance), change}

      for member <- Group.members(instance, __MODULE__),
          do: :erlang.send(member, message, [:noconnect])

      :ok
    end
  end

  @impl GenServer
  def init(name) do
    instance = Instance.fetch!(name)
    :ok = Group.join(instance, __MODULE__)
    {:ok, instance}
  end

  @impl GenServer
  def handle_info({:beam_mcp, :changed, origin, change}, instance) do
    own = origin(instance)
    arrived = [{origin, change} | waiting(@batch)]
    others = for {from, change} <- arrived, from != own, do: change
    for change <- distinct(others), do: tell(instance, change)
    {:noreply, instance}
  end

  def handle_info({:DOWN, _ref, :process, _scope, _reason}, instance) do
    :ok = Group.rejoin()
    {:noreply, instance}
  end

  def handle_info(:join, instance) do
    :ok = Group.join(instance, __MODULE__)
    {:noreply, instance}
  end

  def handle_info(_other, instance), do: {:noreply, instance}

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

  defp origin(instance), do: {node(), instance.name}
end
