defmodule BeamMCP.SessionStore.ETS do
  @moduledoc """
  Sessions in memory of one node, until they are unused too long, too old or deleted.

  ## Options

  #{BeamMCP.Options.docs(:session_ets)}

  A session is fetched without asking any process; opening, changing, deleting and sweeping go through one,
  so that the bounds hold. Sessions end with the instance and with that process; clients then open
  new ones (404, MCP 2025-11-25 basic/transports).
  """

  @behaviour BeamMCP.SessionStore

  use GenServer

  alias BeamMCP.{Instance, Options, SessionStore}

  # A row is `{id, session, opened_ms, used_ms}`.
  @session 2
  @used_ms 4

  @impl SessionStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &monotonic_ms/0)

    settings =
      :session_ets |> Options.validate!(options, "session_store.") |> Map.put(:clock, clock)

    %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, settings]}}
  end

  @doc false
  @spec start_link(SessionStore.namespace(), map()) :: GenServer.on_start()
  def start_link(namespace, settings) do
    GenServer.start_link(__MODULE__, {namespace, settings})
  end

  @impl SessionStore
  def create(namespace, session) do
    GenServer.call(Instance.via(namespace, __MODULE__), {:create, session})
  end

  @impl SessionStore
  def fetch(namespace, id) do
    {table, settings} = opened(namespace)
    now_ms = settings.clock.()

    with [{^id, session, opened_ms, used_ms}] <- :ets.lookup(table, id),
         false <- ended?(opened_ms, used_ms, now_ms, settings) do
      # Does nothing when the session was deleted meanwhile.
      :ets.update_element(table, id, {@used_ms, now_ms})
      {:ok, session}
    else
      _none_or_ended -> {:error, :unknown}
    end
  end

  @impl SessionStore
  def update(namespace, id, changes) do
    GenServer.call(Instance.via(namespace, __MODULE__), {:update, id, changes})
  end

  @impl SessionStore
  def delete(namespace, id) do
    GenServer.call(Instance.via(namespace, __MODULE__), {:delete, id})
  end

  @impl GenServer
  def init({namespace, settings}) do
    table = :ets.new(__MODULE__, [:public, read_concurrency: true])
    {:ok, _} = Registry.register(BeamMCP.Registry, {namespace, __MODULE__}, {table, settings})
    schedule_sweep(settings)
    {:ok, %{table: table, settings: settings, counts: %{}}}
  end

  @impl GenServer
  def handle_call({:create, session}, _from, state) do
    if full?(state, session.principal) do
      {:reply, {:error, :full}, state}
    else
      id = SessionStore.new_id()
      now_ms = state.settings.clock.()
      :ets.insert(state.table, {id, session, now_ms, now_ms})

      {:reply, {:ok, id},
       %{state | counts: Map.update(state.counts, session.principal, 1, &(&1 + 1))}}
    end
  end

  def handle_call({:update, id, changes}, _from, state) do
    case :ets.lookup(state.table, id) do
      [{^id, session, _opened_ms, _used_ms}] ->
        :ets.update_element(state.table, id, {@session, Map.merge(session, changes)})
        {:reply, :ok, state}

      [] ->
        {:reply, {:error, :unknown}, state}
    end
  end

  def handle_call({:delete, id}, _from, state) do
    case :ets.take(state.table, id) do
      [{^id, session, _opened_ms, _used_ms}] -> {:reply, :ok, uncount(state, session.principal)}
      [] -> {:reply, {:error, :unknown}, state}
    end
  end

  @impl GenServer
  def handle_info(:sweep, state) do
    schedule_sweep(state.settings)
    {:noreply, sweep(state)}
  end

  defp sweep(state) do
    now_ms = state.settings.clock.()

    ended =
      :ets.foldl(
        fn {id, session, opened_ms, used_ms}, ended ->
          if ended?(opened_ms, used_ms, now_ms, state.settings),
            do: [{id, session.principal} | ended],
            else: ended
        end,
        [],
        state.table
      )

    Enum.reduce(ended, state, fn {id, principal}, state ->
      :ets.delete(state.table, id)
      uncount(state, principal)
    end)
  end

  # Anonymous callers cannot be told apart, so only the total binds them.
  defp full?(%{table: table, settings: settings, counts: counts}, principal) do
    :ets.info(table, :size) >= settings.max_sessions or
      (principal != nil and Map.get(counts, principal, 0) >= settings.max_sessions_per_principal)
  end

  defp uncount(state, principal) do
    case state.counts do
      %{^principal => 1} = counts -> %{state | counts: Map.delete(counts, principal)}
      %{^principal => count} = counts -> %{state | counts: %{counts | principal => count - 1}}
    end
  end

  defp ended?(opened_ms, used_ms, now_ms, settings) do
    now_ms - opened_ms >= settings.lifetime_ms or now_ms - used_ms >= settings.idle_timeout_ms
  end

  defp opened(namespace) do
    [{_pid, opened}] = Registry.lookup(BeamMCP.Registry, {namespace, __MODULE__})
    opened
  end

  defp schedule_sweep(settings),
    do: Process.send_after(self(), :sweep, settings.sweep_interval_ms)

  defp monotonic_ms, do: System.monotonic_time(:millisecond)
end
