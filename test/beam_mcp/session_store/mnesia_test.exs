defmodule BeamMCP.SessionStore.MnesiaTest do
  use BeamMCP.SessionStoreCase, async: false, store: {BeamMCP.SessionStore.Mnesia, []}
  use BeamMCP.SessionStoreBoundsCase, store: BeamMCP.SessionStore.Mnesia

  import BeamMCP.SessionStoreCase, only: [session: 0]
  import BeamMCP.Test.Until

  alias BeamMCP.SessionStore
  alias BeamMCP.SessionStore.Mnesia

  setup_all do
    BeamMCP.Test.Mnesia.start()
    on_exit(fn -> Application.stop(:mnesia) end)
  end

  test "outlives its process, and not a stop in good order" do
    store = start([])
    id = create(store)
    Process.exit(store.pid, :kill)
    wait_until(fn -> match?({:ok, _session}, Mnesia.fetch(store.namespace, id)) end)
    stop_supervised!(store.namespace)
    wait_until(fn -> Mnesia.fetch(store.namespace, id) == {:error, :unavailable} end)
  end

  test "a namespace that names no table is refused by name" do
    for namespace <- [{:a, 1}, "a/b", "", String.duplicate("a", 151)] do
      error = assert_raise ArgumentError, fn -> Mnesia.child_spec({namespace, []}) end
      assert error.message =~ "the option namespace"
      assert error.message =~ inspect(namespace)
    end
  end

  test "a wrong option is refused with its place" do
    assert_raise ArgumentError, ~r/session_store.majority/, fn ->
      Mnesia.child_spec({:here, majority: 1})
    end
  end

  test "copies on disc need a schema on disc" do
    {module, function, arguments} = Mnesia.child_spec({"disc", disc_copies: true}).start
    Process.flag(:trap_exit, true)
    assert {:error, text} = apply(module, function, arguments)
    assert text =~ "beam_mcp_sessions_disc"
    assert text =~ "disc_copies"
  end

  test "a store that cannot be reached fails the question in silence" do
    log =
      ExUnit.CaptureLog.capture_log(fn ->
        for question <- [
              {:create, session()},
              {:fetch, "a"},
              {:set_log_level, "a", "debug"},
              {:delete, "a"}
            ],
            do: assert(SessionStore.answer({Mnesia, :nowhere}, question) == :failed)
      end)

    assert log == ""
  end

  test "sessions of an instance go by its namespace" do
    config = BeamMCP.Config.new!(name: :one, namespace: :many, session_store: {Mnesia, []})
    assert {Mnesia, :many, _child} = config.session_store
    assert %{shared_sessions: true} = BeamMCP.Config.native(config, [], false)

    config = BeamMCP.Config.new!(name: :one, namespace: :many)
    assert {SessionStore.ETS, :one, _child} = config.session_store
    assert %{shared_sessions: false} = BeamMCP.Config.native(config, [], false)
  end
end
