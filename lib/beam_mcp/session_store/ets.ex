defmodule BeamMCP.SessionStore.ETS do
  @moduledoc """
  Sessions in memory of one node, until they are unused too long, too old or deleted.

  ## Options

  #{BeamMCP.Options.docs(:session_ets)}

  A session is fetched without asking any process; opening, changing, deleting and sweeping go through one,
  so that the bounds hold. Sessions end with the instance and with that process; clients then open
  new ones (404, MCP 2025-11-25 basic/transports).

  When `max_sessions` are open, a new one takes the place of the oldest that was not used since it
  was opened, if that is at least ten seconds ago: somebody who opens sessions and leaves them
  cannot keep others out. One that was used stays until it ends by itself.
  """

  @behaviour BeamMCP.SessionStore

  use GenServer

  alias BeamMCP.{Instance, Options, SessionStore}

  # A row is `{id, session, opened_ms, used_ms}`, with `nil` for one that was never used; the table
  # `unused` has `{{opened_ms, id}}` of those, the oldest first.
  @session 2
  @used_ms 4

  # A client that was just answered has so long to use what it opened.
  @min_unused_ms 10_000

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
    %{table: table, settings: settings} = opened = opened(namespace)
    now_ms = settings.clock.()

    with [{^id, session, opened_ms, used_ms}] <- :ets.lookup(table, id),
         false <- ended?(opened_ms, used_ms, now_ms, settings) do
      # Does nothing when the session was deleted meanwhile.
      :ets.update_element(table, id, {@used_ms, now_ms})
      if used_ms == nil, do: :ets.delete(opened.unused, {opened_ms, id})
      {:ok, session}
    else
      _none_or_ended -> {:error, :unknown}
    end
  end

  @impl SessionStore
  def update(namespace, id, change) do
    GenServer.call(Instance.via(namespace, __MODULE__), {:update, id, change})
  end

  @impl SessionStore
  def delete(namespace, id) do
    GenServer.call(Instance.via(namespace, __MODULE__), {:delete, id})
  end

  @impl GenServer
  def init({namespace, settings}) do
    opened = %{
      table: :ets.new(__MODULE__, [:public, read_concurrency: true]),
      unused: :ets.new(__MODULE__, [:public, :ordered_set]),
      settings: settings
    }

    :ok = Instance.register(namespace, __MODULE__, opened)
    schedule_sweep(settings)
    {:ok, Map.merge(opened, %{namespace: namespace, counts: %{}})}
  end

  @impl GenServer
  def handle_call({:create, session}, _from, state) do
    now_ms = state.settings.clock.()

    case make_room(state, session.principal, now_ms) do
      {:ok, state} ->
        id = SessionStore.new_id()
        :ets.insert(state.table, {id, session, now_ms, nil})
        :ets.insert(state.unused, {{now_ms, id}})
        {:reply, {:ok, id}, count(state, session.principal)}

      :full ->
        {:reply, {:error, :full}, state}
    end
  end

  def handle_call({:update, id, change}, _from, state) do
    with [{^id, session, opened_ms, used_ms}] <- :ets.lookup(state.table, id),
         false <- ended?(opened_ms, used_ms, state.settings.clock.(), state.settings),
         {:ok, session} <- change.(session) do
      :ets.update_element(state.table, id, {@session, session})
      {:reply, :ok, state}
    else
      {:error, :full} -> {:reply, {:error, :full}, state}
      _none_or_ended -> {:reply, {:error, :unknown}, state}
    end
  end

  def handle_call({:delete, id}, _from, state) do
    case remove(state, id) do
      {:ok, state} -> {:reply, :ok, state}
      :unknown -> {:reply, {:error, :unknown}, state}
    end
  end

  @impl GenServer
  def handle_info(:sweep, state) do
    schedule_sweep(state.settings)
    {:noreply, sweep(state)}
  end

  def handle_info({:EXIT, _registry, _reason}, state) do
    opened = Map.take(state, [:table, :unused, :settings])
    :ok = Instance.register(state.namespace, __MODULE__, opened)
    {:noreply, state}
  end

  defp sweep(state) do
    now_ms = state.settings.clock.()

    ended =
      :ets.foldl(
        fn {id, _session, opened_ms, used_ms}, ended ->
          if ended?(opened_ms, used_ms, now_ms, state.settings), do: [id | ended], else: ended
        end,
        [],
        state.table
      )

    Enum.reduce(ended, state, fn id, state ->
      {:ok, state} = remove(state, id)
      state
    end)
  end

  # Anonymous callers cannot be told apart, so only the total binds them.
  defp make_room(%{settings: settings} = state, principal, now_ms) do
    cond do
      principal != nil and
          Map.get(state.counts, principal, 0) >= settings.max_sessions_per_principal ->
        :full

      :ets.info(state.table, :size) >= settings.max_sessions ->
        remove_unused(state, now_ms)

      true ->
        {:ok, state}
    end
  end

  defp remove_unused(state, now_ms) do
    case :ets.first(state.unused) do
      {opened_ms, id} when now_ms - opened_ms >= @min_unused_ms -> remove(state, id)
      _none_or_young -> :full
    end
  end

  defp remove(state, id) do
    case :ets.take(state.table, id) do
      [{^id, session, opened_ms, _used_ms}] ->
        :ets.delete(state.unused, {opened_ms, id})
        {:ok, uncount(state, session.principal)}

      [] ->
        :unknown
    end
  end

  defp count(state, principal),
    do: %{state | counts: Map.update(state.counts, principal, 1, &(&1 + 1))}

  defp uncount(state, principal) do
    case state.counts do
      %{^principal => 1} = counts -> %{state | counts: Map.delete(counts, principal)}
      %{^principal => count} = counts -> %{state | counts: %{counts | principal => count - 1}}
    end
  end

  defp ended?(opened_ms, used_ms, now_ms, settings) do
    now_ms - opened_ms >= settings.lifetime_ms or
      now_ms - (used_ms || opened_ms) >= settings.idle_timeout_ms
  end

  defp opened(namespace) do
    [{_pid, opened}] = Registry.lookup(BeamMCP.Registry, {namespace, __MODULE__})
    opened
  end

  defp schedule_sweep(settings),
    do: Process.send_after(self(), :sweep, settings.sweep_interval_ms)

  defp monotonic_ms, do: System.monotonic_time(:millisecond)
end
