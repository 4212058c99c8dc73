defmodule BeamMCP.Changes do
  @moduledoc false
  # Has the clients of every node told of a change.
  #
  # The native library tells those of this node, in the process that knows of the change. One process
  # for each instance is a member of the instance's group and does the same with what other nodes
  # send. Nothing is stored: a node that is away misses changes, and so do its clients.

  use GenServer

  alias BeamMCP.{Instance, Native}

  @scope BeamMCP.Groups

  # Changes that are taken up at a time: the same one several times is one.
  @batch 1_000

  @doc "The `:pg` scope of all instances of this node."
  @spec scope() :: Supervisor.child_spec()
  def scope, do: %{id: @scope, start: {:pg, :start_link, [@scope]}}

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name),
    do: GenServer.start_link(__MODULE__, name, name: Instance.via(name, __MODULE__))

  @doc "Tells the clients of this node, and has other nodes tell theirs."
  @spec publish(Instance.t(), Native.change()) :: :ok | {:error, Native.reason()}
  def publish(instance, change) do
    with :ok <- Native.publish(instance.native, change) do
      own = GenServer.whereis(Instance.via(instance.name, __MODULE__))
      message = {:beam_mcp, :changed, change}

      for member <- :pg.get_members(@scope, group(instance)), member != own do
        :erlang.send(member, message, [:noconnect])
      end

      :ok
    end
  end

  @impl GenServer
  def init(name) do
    instance = Instance.fetch!(name)
    :ok = :pg.join(@scope, group(instance), self())
    {:ok, instance}
  end

  @impl GenServer
  def handle_info({:beam_mcp, :changed, change}, instance) do
    for change <- distinct([change | waiting(@batch)]), do: tell(instance, change)
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
      {:beam_mcp, :changed, change} -> [change | waiting(most - 1)]
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
end
