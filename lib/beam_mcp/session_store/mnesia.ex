defmodule BeamMCP.SessionStore.Mnesia do
  @moduledoc """
  Sessions that several nodes have in common, in the Mnesia that the host runs.

      {BeamMCP,
       name: MyApp.MCP,
       session_store: {BeamMCP.SessionStore.Mnesia, []},
       secrets: secrets, ..}

  A session that one node opened is served by all, and ends with the last of them. The host lists
  `:mnesia` in its `extra_applications` and connects the nodes' Mnesias before the instance starts
  (`extra_db_nodes`); the guide to clusters shows how. BeamMCP makes two tables of its own, named
  after the instance's `namespace`, and touches nothing else.

  ## Options

  #{BeamMCP.Options.docs(:session_mnesia)}

  What is written is on all copies before the client is answered. What is read is read here; use is
  noted at most once in a tenth of `idle_timeout_ms`, by which a session may end sooner. Bounds hold
  for all nodes together; of sessions that are opened at the same moment, one for each node may go
  beyond `max_sessions`. Times are compared between nodes, so their clocks should agree within
  seconds.

  ## When nodes go

  With `majority: true` a node that sees no more than half of the copies answers 503: of three nodes
  one may be lost, of two none. A node that stops in good order gives its copy up first, if that is in
  memory, so that two nodes may be restarted in turn. After a partition Mnesia leaves it to the
  operator to say which side counts.
  """

  @behaviour BeamMCP.SessionStore
  @behaviour BeamMCP.Mnesia.Tables

  alias BeamMCP.{Mnesia, Options, SessionStore}
  alias BeamMCP.Mnesia.Tables

  # A row of `sessions` is `{table, id, session, opened_ms, used_ms}`, used when it was opened until it
  # is used. One of `order` is `{table, {:unused, opened_ms, id}, nil}` for each that was not, the
  # oldest first, or `{table, {:count, principal}, count}`.
  @sessions [attributes: [:id, :session, :opened_ms, :used_ms], type: :set]
  @order [attributes: [:key, :value], type: :ordered_set]

  # A client that was just answered has so long to use what it opened.
  @min_unused_ms 10_000

  @impl SessionStore
  def shared?, do: true

  @impl SessionStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &Mnesia.wall_ms/0)
    settings = Options.validate!(:session_mnesia, options, "session_store.")

    store = %{
      sessions: Mnesia.table!("sessions", namespace),
      order: Mnesia.table!("sessions_order", namespace),
      settings: settings,
      clock: clock
    }

    Tables.child_spec({__MODULE__, namespace, store})
  end

  @impl SessionStore
  def create(namespace, session) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace),
         {:ok, id} <- Mnesia.transaction(fn -> create_in(store, session) end) do
      :ok = Mnesia.settle(store.sessions, id)
      {:ok, id}
    end
  end

  @impl SessionStore
  def fetch(namespace, id) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace),
         {:ok, row} <- read(Mnesia.read(store.sessions, id), store) do
      used(store, row)
    end
  end

  @impl SessionStore
  def update(namespace, id, change) do
    written(namespace, id, fn store ->
      with {:ok, {table, ^id, session, opened_ms, used_ms}} <- lock(store, id),
           {:ok, session} <- change.(session) do
        Mnesia.write({table, id, session, opened_ms, used_ms})
      end
    end)
  end

  @impl SessionStore
  def delete(namespace, id) do
    written(namespace, id, fn store ->
      if remove(store, id), do: :ok, else: {:error, :unknown}
    end)
  end

  @impl Tables
  def tables(store), do: [{store.sessions, @sessions}, {store.order, @order}]

  @impl Tables
  def sweep(store) do
    now_ms = store.clock.()
    old = {:"=<", :"$2", now_ms - store.settings.lifetime_ms}
    idle = {:"=<", :"$3", now_ms - store.settings.idle_timeout_ms}
    ended = [{{store.sessions, :"$1", :_, :"$2", :"$3"}, [{:orelse, old, idle}], [:"$1"]}]
    Mnesia.sweep(store.sessions, ended, &remove_ended(store, &1))
  end

  defp written(namespace, id, change) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace),
         :ok <- Mnesia.transaction(fn -> change.(store) end),
         do: Mnesia.settle(store.sessions, id)
  end

  defp create_in(store, session) do
    # Those of this node one after the other; there is no such row.
    [] = Mnesia.lock(store.order, {:room, node()})
    now_ms = store.clock.()

    with :ok <- count_in(store, session.principal),
         :ok <- make_room(store, now_ms) do
      id = SessionStore.new_id()
      :ok = Mnesia.write({store.sessions, id, session, now_ms, now_ms})
      :ok = Mnesia.write({store.order, {:unused, now_ms, id}, nil})
      {:ok, id}
    end
  end

  # Anonymous callers cannot be told apart, so only the total binds them.
  defp count_in(_store, nil), do: :ok

  defp count_in(store, principal) do
    count = count(store, principal)

    if count < store.settings.max_sessions_per_principal,
      do: Mnesia.write({store.order, {:count, principal}, count + 1}),
      else: Mnesia.refuse({:error, :full})
  end

  defp count_out(_store, nil), do: :ok

  defp count_out(store, principal) do
    case count(store, principal) do
      1 -> Mnesia.delete(store.order, {:count, principal})
      count -> Mnesia.write({store.order, {:count, principal}, count - 1})
    end
  end

  defp count(store, principal) do
    case Mnesia.lock(store.order, {:count, principal}) do
      [{_table, _key, count}] -> count
      [] -> 0
    end
  end

  defp make_room(store, now_ms) do
    if Mnesia.size(store.sessions) < store.settings.max_sessions,
      do: :ok,
      else: remove_unused(store, Mnesia.next(store.order, {:unused, 0, ""}), now_ms)
  end

  defp remove_unused(store, {:unused, opened_ms, id}, now_ms)
       when now_ms - opened_ms >= @min_unused_ms do
    remove(store, id)
    :ok
  end

  defp remove_unused(_store, _none_or_young, _now_ms), do: Mnesia.refuse({:error, :full})

  defp used(store, {_table, _id, session, opened_ms, used_ms} = row) do
    if used_ms > opened_ms and store.clock.() - used_ms < div(store.settings.idle_timeout_ms, 10),
      do: {:ok, session},
      else: use_now(store, elem(row, 1))
  end

  defp use_now(store, id) do
    Mnesia.transaction(fn ->
      with {:ok, {table, ^id, session, opened_ms, _used_ms}} <- lock(store, id) do
        :ok = Mnesia.delete(store.order, {:unused, opened_ms, id})
        :ok = Mnesia.write({table, id, session, opened_ms, store.clock.()})
        {:ok, session}
      end
    end)
  end

  defp remove(store, id) do
    case Mnesia.lock(store.sessions, id) do
      [{table, ^id, session, opened_ms, _used_ms}] ->
        :ok = Mnesia.delete(table, id)
        :ok = Mnesia.delete(store.order, {:unused, opened_ms, id})
        count_out(store, session.principal)
        true

      [] ->
        false
    end
  end

  defp lock(store, id), do: read(Mnesia.lock(store.sessions, id), store)

  defp read([{_table, _id, _session, opened_ms, used_ms} = row], store) do
    if ended?(opened_ms, used_ms, store.clock.(), store.settings),
      do: {:error, :unknown},
      else: {:ok, row}
  end

  defp read([], _store), do: {:error, :unknown}

  defp ended?(opened_ms, used_ms, now_ms, settings) do
    now_ms - opened_ms >= settings.lifetime_ms or now_ms - used_ms >= settings.idle_timeout_ms
  end

  # It may have been used meanwhile, on another node.
  defp remove_ended(store, id) do
    with {:error, :unknown} <- lock(store, id), do: remove(store, id)
  end
end
