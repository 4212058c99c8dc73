defmodule BeamMCP.SessionStore.ETSTest do
  use BeamMCP.SessionStoreCase, async: true, store: {BeamMCP.SessionStore.ETS, []}
  use BeamMCP.SessionStoreBoundsCase, store: BeamMCP.SessionStore.ETS

  import BeamMCP.SessionStoreCase, only: [session: 0]
  import BeamMCP.Test.Until

  alias BeamMCP.{Instance, SessionStore}
  alias BeamMCP.SessionStore.ETS

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
end
