defmodule BeamMCP.Audit do
  @moduledoc false
  # Gives each decision over a caller to the host's `audit`, in order, from one process. Nobody waits
  # for it: what comes while so many wait is dropped and counted.

  use GenServer

  alias BeamMCP.{Config, Decision, Fault, Handler, Instance}

  @max_waiting 1_000

  # For what waits when the instance stops.
  @shutdown_ms 1_000

  # Places of the counters.
  @waiting 1
  @dropped 2

  @typedoc "How many wait and were dropped."
  @type counters :: :counters.counters_ref()

  @spec child_spec(Config.t()) :: Supervisor.child_spec()
  def child_spec(config) do
    %{
      id: __MODULE__,
      start: {__MODULE__, :start_link, [config.name]},
      shutdown: @shutdown_ms
    }
  end

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name), do: GenServer.start_link(__MODULE__, name)

  @doc "Counters that outlive the process."
  @spec counters() :: counters()
  def counters, do: :counters.new(2, [])

  @doc "Has a decision given to the host, or counted. To be called by one process."
  @spec hand_over(Instance.t(), Decision.t()) :: :ok
  def hand_over(%{audit: counters} = instance, decision) do
    with true <- :counters.get(counters, @waiting) < @max_waiting,
         [{pid, _value}] <- Registry.lookup(BeamMCP.Registry, {instance.name, __MODULE__}) do
      :counters.add(counters, @waiting, 1)
      send(pid, {:decision, decision})
      :ok
    else
      _full_or_gone -> :counters.add(counters, @dropped, 1)
    end
  rescue
    # The Registry was killed and is not back.
    ArgumentError -> :counters.add(instance.audit, @dropped, 1)
  end

  @doc "Decisions that the host did not get."
  @spec dropped(Instance.t()) :: non_neg_integer()
  def dropped(%{audit: nil}), do: 0
  def dropped(%{audit: counters}), do: :counters.get(counters, @dropped)

  @impl GenServer
  def init(name) do
    instance = Instance.fetch!(name)
    count_lost(instance.audit)
    :ok = Instance.register(name, __MODULE__, nil)
    {:ok, instance}
  end

  @impl GenServer
  def handle_info({:decision, decision}, instance) do
    give(instance, decision)
    {:noreply, instance}
  end

  def handle_info({:EXIT, _registry, _reason}, instance) do
    :ok = Instance.register(instance.name, __MODULE__, nil)
    {:noreply, instance}
  end

  # What the host's function left behind.
  def handle_info(_late, instance), do: {:noreply, instance}

  @impl GenServer
  def terminate(_reason, instance) do
    receive do
      {:decision, decision} ->
        give(instance, decision)
        terminate(:shutdown, instance)
    after
      0 -> :ok
    end
  end

  # What waited for the process before this one ended with it.
  defp count_lost(counters) do
    :counters.add(counters, @dropped, :counters.get(counters, @waiting))
    :counters.put(counters, @waiting, 0)
  end

  defp give(instance, decision) do
    Handler.call(instance.config.audit, [decision])
  catch
    kind, reason -> Fault.log(kind, reason, __STACKTRACE__, "audit")
  after
    :counters.sub(instance.audit, @waiting, 1)
  end
end
