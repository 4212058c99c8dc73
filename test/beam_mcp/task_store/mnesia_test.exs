defmodule BeamMCP.TaskStore.MnesiaTest do
  use BeamMCP.TaskStoreCase, async: false, store: {BeamMCP.TaskStore.Mnesia, []}
  use BeamMCP.TaskStoreBoundsCase, store: BeamMCP.TaskStore.Mnesia

  alias BeamMCP.Config
  alias BeamMCP.TaskStore.Mnesia

  setup_all do
    BeamMCP.Test.Mnesia.start()
    on_exit(fn -> Application.stop(:mnesia) end)
  end

  test "nothing is left of the totals when all tasks are gone" do
    store = start([])
    {:ok, one} = create(store, %{principal: "alice", request_bytes: 10})
    {:ok, other} = create(store, %{principal: "alice", ttl_ms: 100})
    grown = &{:ok, %{&1 | detail: "{}", request_bytes: 0}}
    {:ok, _task} = Mnesia.update(store.namespace, other, grown)
    assert totals(store) == %{{:count, "alice"} => 2, {:bytes, node()} => 12}
    :ok = Mnesia.delete(store.namespace, one)
    assert totals(store) == %{{:count, "alice"} => 1, {:bytes, node()} => 2}
    pass(store, 100)
    send(store.pid, :sweep)
    :sys.get_state(store.pid)
    assert totals(store) == %{}
  end

  # A task's keeper that was written down would be taken for another process of this node.
  test "copies on disc are refused without a name of the node, and with a name are not" do
    spec = fn -> Mnesia.child_spec({"disc", disc_copies: true}) end

    if node() == :nonode@nohost do
      error = assert_raise ArgumentError, spec
      assert error.message =~ "option task_store.disc_copies: the node needs a name"
    else
      assert %{id: Mnesia} = spec.()
    end
  end

  test "a store that is gone has nothing" do
    task = task()
    assert Mnesia.create(:nowhere, task) == {:error, :unavailable}
    assert Mnesia.fetch(:nowhere, task.id) == {:error, :unavailable}
    assert Mnesia.update(:nowhere, task.id, &{:ok, &1}) == {:error, :unavailable}
    assert Mnesia.delete(:nowhere, task.id) == {:error, :unavailable}
    assert BeamMCP.Tasks.count(%{tasks: {Mnesia, :nowhere}}) == nil
  end

  test "tasks of an instance go by its namespace" do
    config = Config.new!(name: :one, namespace: :many, task_store: {Mnesia, []})
    assert {Mnesia, :many, _child} = config.task_store
    assert %{shared_tasks: true} = Config.native(config, [], false)
    refute Config.new!(name: :one) |> Config.shared_tasks?()
  end

  defp totals(store) do
    pattern = {:"beam_mcp_tasks_totals_#{store.namespace}", :_, :_}
    rows = apply(:mnesia, :dirty_match_object, [pattern])
    Map.new(rows, fn {_table, key, value} -> {key, value} end)
  end
end
