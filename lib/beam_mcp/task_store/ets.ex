defmodule BeamMCP.TaskStore.ETS do
  @moduledoc """
  Tasks in memory of one node, until their time is up.

  ## Options

  #{BeamMCP.Options.docs(:task_ets)}

  A task is fetched without asking any process; beginning, changing and sweeping go through one, so
  that the bounds hold. Tasks end with the instance and with that process.

  A task stays until its `ttl_ms` have passed, ended or not, since its client was promised that
  (MCP tasks). So whoever begins tasks and leaves them takes room for that long, and no more of it
  than the bounds allow.
  """

  @behaviour BeamMCP.TaskStore

  use GenServer

  alias BeamMCP.{Instance, Options, TaskStore}

  @impl TaskStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &wall_ms/0)
    settings = :task_ets |> Options.validate!(options, "task_store.") |> Map.put(:clock, clock)
    %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, settings]}}
  end

  @doc false
  @spec start_link(TaskStore.namespace(), map()) :: GenServer.on_start()
  def start_link(namespace, settings) do
    GenServer.start_link(__MODULE__, {namespace, settings})
  end

  @impl TaskStore
  def create(namespace, task), do: call(namespace, {:create, task})

  @impl TaskStore
  def fetch(namespace, id) do
    %{table: table, clock: clock} = opened(namespace)
    kept(table, id, clock.())
  end

  @impl TaskStore
  def update(namespace, id, change), do: call(namespace, {:update, id, change})

  @impl TaskStore
  def delete(namespace, id), do: call(namespace, {:delete, id})

  @impl TaskStore
  def count(namespace), do: :ets.info(opened(namespace).table, :size)

  @impl GenServer
  def init({namespace, settings}) do
    table = :ets.new(__MODULE__, [:protected, read_concurrency: true])
    opened = %{table: table, clock: settings.clock}
    :ok = Instance.register(namespace, __MODULE__, opened)
    schedule_sweep(settings)

    {:ok,
     %{
       namespace: namespace,
       opened: opened,
       table: table,
       settings: settings,
       bytes: 0,
       counts: %{}
     }}
  end

  @impl GenServer
  def handle_call({:create, task}, _from, state) do
    if room?(state, task) do
      :ets.insert(state.table, {task.id, task})
      {:reply, :ok, count(state, task, 1)}
    else
      {:reply, {:error, :full}, state}
    end
  end

  def handle_call({:update, id, change}, _from, state) do
    with {:ok, before} <- kept(state.table, id, state.settings.clock.()),
         {:ok, task} <- change.(before),
         bytes = state.bytes - TaskStore.bytes(before) + TaskStore.bytes(task),
         true <- bytes <= max(state.settings.max_task_bytes, state.bytes) do
      :ets.insert(state.table, {id, task})
      {:reply, {:ok, task}, %{state | bytes: bytes}}
    else
      false -> {:reply, {:error, :full}, state}
      {:error, reason} -> {:reply, {:error, reason}, state}
    end
  end

  def handle_call({:delete, id}, _from, state) do
    case :ets.take(state.table, id) do
      [{^id, task}] -> {:reply, :ok, count(state, task, -1)}
      [] -> {:reply, {:error, :unknown}, state}
    end
  end

  @impl GenServer
  def handle_info(:sweep, state) do
    schedule_sweep(state.settings)
    {:noreply, sweep(state)}
  end

  def handle_info({:EXIT, _registry, _reason}, state) do
    :ok = Instance.register(state.namespace, __MODULE__, state.opened)
    {:noreply, state}
  end

  def handle_info(_late, state), do: {:noreply, state}

  defp sweep(state) do
    now_ms = state.settings.clock.()

    fold = fn {id, task}, expired ->
      if expired?(task, now_ms), do: [id | expired], else: expired
    end

    Enum.reduce(:ets.foldl(fold, [], state.table), state, fn id, state ->
      [{^id, task}] = :ets.take(state.table, id)
      count(state, task, -1)
    end)
  end

  # Anonymous callers cannot be told apart, so only the totals bind them.
  defp room?(%{settings: settings} = state, task) do
    :ets.info(state.table, :size) < settings.max_tasks and
      state.bytes + TaskStore.bytes(task) <= settings.max_task_bytes and
      (task.principal == nil or
         Map.get(state.counts, task.principal, 0) < settings.max_tasks_per_principal)
  end

  defp count(state, task, by) do
    bytes = state.bytes + by * TaskStore.bytes(task)
    %{state | bytes: bytes, counts: count_principal(state.counts, task.principal, by)}
  end

  defp count_principal(counts, nil, _by), do: counts

  defp count_principal(counts, principal, by) do
    case Map.get(counts, principal, 0) + by do
      0 -> Map.delete(counts, principal)
      count -> Map.put(counts, principal, count)
    end
  end

  defp kept(table, id, now_ms) do
    with [{^id, task}] <- :ets.lookup(table, id),
         false <- expired?(task, now_ms) do
      {:ok, task}
    else
      _none_or_expired -> {:error, :unknown}
    end
  end

  defp expired?(task, now_ms), do: now_ms - task.created_ms >= task.ttl_ms

  defp call(namespace, request),
    do: GenServer.call(Instance.via(namespace, __MODULE__), request)

  defp opened(namespace) do
    [{_pid, opened}] = Registry.lookup(BeamMCP.Registry, {namespace, __MODULE__})
    opened
  end

  defp schedule_sweep(settings),
    do: Process.send_after(self(), :sweep, settings.sweep_interval_ms)

  defp wall_ms, do: System.os_time(:millisecond)
end
