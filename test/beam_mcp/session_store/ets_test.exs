defmodule BeamMCP.SessionStore.ETSTest do
  use BeamMCP.SessionStoreCase, async: true, store: {BeamMCP.SessionStore.ETS, []}

  import BeamMCP.SessionStoreCase, only: [session: 0, session: 1]

  alias BeamMCP.{Instance, SessionStore}
  alias BeamMCP.SessionStore.ETS

  defp start(options) do
    namespace = make_ref()
    time = :counters.new(1, [])
    options = [clock: fn -> :counters.get(time, 1) end] ++ options
    pid = start_supervised!(ETS.child_spec({namespace, options}) |> Map.put(:id, namespace))
    %{namespace: namespace, time: time, pid: pid}
  end

  defp pass(store, ms), do: :counters.add(store.time, 1, ms)

  defp create(store, principal \\ nil) do
    {:ok, id} = ETS.create(store.namespace, session(principal))
    id
  end

  test "a session unused too long ends; use keeps it" do
    store = start(idle_timeout_ms: 100, lifetime_ms: 1_000)
    id = create(store)

    for _ <- 1..5 do
      pass(store, 99)
      assert {:ok, _session} = ETS.fetch(store.namespace, id)
    end

    pass(store, 100)
    assert ETS.fetch(store.namespace, id) == {:error, :unknown}
    assert ETS.update(store.namespace, id, %{log_level: "debug"}) == {:error, :unknown}
  end

  test "a session ends at its age, used or not" do
    store = start(idle_timeout_ms: 1_000, lifetime_ms: 250)
    id = create(store)
    pass(store, 249)
    assert {:ok, _session} = ETS.fetch(store.namespace, id)
    pass(store, 1)
    assert ETS.fetch(store.namespace, id) == {:error, :unknown}
  end

  test "the total is bounded, and room comes back" do
    store = start(max_sessions: 2)
    first = create(store)
    create(store)
    assert ETS.create(store.namespace, session()) == {:error, :full}
    :ok = ETS.delete(store.namespace, first)
    assert {:ok, _id} = ETS.create(store.namespace, session())
  end

  test "a new session takes the place of the oldest that was left unused, not sooner than it may" do
    store = start(max_sessions: 3)
    used = create(store)
    assert {:ok, _session} = ETS.fetch(store.namespace, used)
    pass(store, 1)
    [oldest, younger] = for _ <- 1..2, do: create(store) |> tap(fn _id -> pass(store, 1) end)
    pass(store, 9_997)
    assert ETS.create(store.namespace, session()) == {:error, :full}

    pass(store, 1)
    newest = create(store)
    assert ETS.fetch(store.namespace, oldest) == {:error, :unknown}
    for id <- [used, younger, newest], do: assert({:ok, _} = ETS.fetch(store.namespace, id))

    pass(store, 60_000)
    assert ETS.create(store.namespace, session()) == {:error, :full}
  end

  test "what ends in another way leaves no place to take" do
    store = start(max_sessions: 2, max_sessions_per_principal: 1, idle_timeout_ms: 30_000)
    deleted = create(store, "alice")
    pass(store, 1)
    create(store, "bob")
    :ok = ETS.delete(store.namespace, deleted)
    pass(store, 1)
    create(store, "alice")

    pass(store, 10_000)
    assert ETS.create(store.namespace, session("alice")) == {:error, :full}
    for _ <- 1..2, do: create(store)
    assert ETS.create(store.namespace, session()) == {:error, :full}

    pass(store, 30_000)
    send(store.pid, :sweep)
    for _ <- 1..2, do: create(store)
    assert ETS.create(store.namespace, session()) == {:error, :full}
  end

  test "one principal's sessions are bounded, others and the anonymous are not" do
    store = start(max_sessions_per_principal: 1)
    id = create(store, "alice")
    assert ETS.create(store.namespace, session("alice")) == {:error, :full}
    create(store, "bob")
    create(store)
    create(store)
    :ok = ETS.delete(store.namespace, id)
    create(store, "alice")
  end

  test "sweeping removes what has ended and gives its room back" do
    store = start(max_sessions: 2, max_sessions_per_principal: 1, idle_timeout_ms: 100)
    create(store, "alice")
    pass(store, 50)
    kept = create(store, "bob")
    pass(store, 50)
    send(store.pid, :sweep)
    create(store, "alice")
    assert {:ok, _session} = ETS.fetch(store.namespace, kept)
  end

  test "a crash loses the sessions and nothing else" do
    store = start([])
    id = create(store)
    Process.exit(store.pid, :kill)
    wait_until(fn -> owner(store) not in [nil, store.pid] end)
    assert ETS.fetch(store.namespace, id) == {:error, :unknown}
    assert {:ok, _id} = ETS.create(store.namespace, session())
  end

  test "answers questions of calls" do
    store = {ETS, start(max_sessions: 1).namespace}
    assert {:created, id} = SessionStore.answer(store, {:create, session()})
    assert SessionStore.answer(store, {:create, session()}) == :full
    assert SessionStore.answer(store, {:fetch, id}) == {:found, session()}
    assert SessionStore.answer(store, {:set_log_level, id, "error"}) == :updated
    assert SessionStore.answer(store, {:fetch, id}) == {:found, %{session() | log_level: "error"}}
    assert SessionStore.answer(store, {:set_log_level, "unknown", "error"}) == :unknown
    assert SessionStore.answer(store, {:delete, id}) == :deleted
    assert SessionStore.answer(store, {:delete, id}) == :unknown
    assert SessionStore.answer(store, {:fetch, id}) == :unknown
  end

  test "a store that is gone fails the question" do
    log =
      ExUnit.CaptureLog.capture_log(fn ->
        assert SessionStore.answer({ETS, :no_such_instance}, {:fetch, "a"}) == :failed
      end)

    assert log =~ "BeamMCP.SessionStore.ETS failed"
    assert Instance.fetch(:no_such_instance) |> elem(0) == :error
  end

  defp owner(store) do
    case Registry.lookup(BeamMCP.Registry, {store.namespace, ETS}) do
      [{pid, _table}] -> pid
      [] -> nil
    end
  end

  defp wait_until(done?) do
    unless done?.() do
      Process.sleep(1)
      wait_until(done?)
    end
  end
end
