defmodule BeamMCP.Connectome.Observed.Tables do
  @moduledoc false
  # Owns the tables of all collectors, so that what one has counted is there again when its
  # supervisor starts it anew, and goes on counting in between. A collector that was stopped takes
  # its table along at once; one that ended in any other way after `keep_ms`.

  use GenServer

  alias BeamMCP.Connectome.Observed.Collector

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_argument), do: GenServer.start_link(__MODULE__, :ok, name: __MODULE__)

  @doc """
  Opens, or opens again, the table of the calling process, and watches the process. One that saw this
  process die waits until it is there again.
  """
  @spec open(map(), non_neg_integer()) :: :ok
  def open(options, tries \\ 100) do
    GenServer.call(__MODULE__, {:open, self(), options})
  catch
    :exit, {:noproc, _call} when tries > 0 ->
      Process.sleep(10)
      open(options, tries - 1)
  end

  @doc "Empties a table: a new window begins."
  @spec reset(atom()) :: :ok | {:error, :not_started}
  def reset(name), do: GenServer.call(__MODULE__, {:reset, name})

  @impl GenServer
  def init(:ok) do
    Process.flag(:trap_exit, true)
    # Left by one that was killed: its tables have gone with it.
    Collector.put_all([])
    {:ok, %{monitors: %{}, timers: %{}}}
  end

  @impl GenServer
  def handle_call({:open, pid, options}, _from, state) do
    put(open_again(Collector.fetch(options.name), options))
    {timer, timers} = Map.pop(state.timers, options.name)
    if timer, do: Process.cancel_timer(timer)
    monitors = Map.put(state.monitors, Process.monitor(pid), {options.name, options.keep_ms})
    {:reply, :ok, %{state | monitors: monitors, timers: timers}}
  end

  def handle_call({:reset, name}, _from, state) do
    with {:ok, collector} <- Collector.fetch(name) do
      :ets.delete_all_objects(collector.table)
      :counters.put(collector.dropped, 1, 0)
      put(%{collector | since: DateTime.utc_now()})
      {:reply, :ok, state}
    else
      refusal -> {:reply, refusal, state}
    end
  end

  @impl GenServer
  def handle_info({:DOWN, monitor, :process, _pid, reason}, state) do
    {{name, keep_ms}, monitors} = Map.pop!(state.monitors, monitor)
    keep_ms = if reason == :normal, do: 0, else: keep_ms
    timer = Process.send_after(self(), {:drop, name}, keep_ms)
    {:noreply, %{state | monitors: monitors, timers: Map.put(state.timers, name, timer)}}
  end

  # A collector that came back in time took its timer away; the message may have been sent already.
  def handle_info({:drop, name}, state) do
    {timer, timers} = Map.pop(state.timers, name)
    if timer, do: drop(name)
    {:noreply, %{state | timers: timers}}
  end

  @impl GenServer
  def terminate(_reason, _state), do: Collector.put_all([])

  defp open_again({:ok, collector}, options),
    do: struct!(collector, Map.take(options, [:instances, :max_edges]))

  defp open_again({:error, :not_started}, options), do: Collector.new(options)

  defp put(collector), do: Collector.put_all([collector | others(collector.name)])

  defp drop(name) do
    {:ok, collector} = Collector.fetch(name)
    Collector.put_all(others(name))
    :ets.delete(collector.table)
  end

  defp others(name), do: Enum.reject(Collector.all(), &(&1.name == name))
end
