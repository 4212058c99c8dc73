defmodule BeamMCP.TaskStore.ETSTest do
  use BeamMCP.TaskStoreCase, async: true, store: {BeamMCP.TaskStore.ETS, []}

  alias BeamMCP.TaskStore.ETS

  defp start(options) do
    namespace = make_ref()
    time = :counters.new(1, [])
    options = [clock: fn -> :counters.get(time, 1) end] ++ options
    pid = start_supervised!(ETS.child_spec({namespace, options}) |> Map.put(:id, namespace))
    %{namespace: namespace, time: time, pid: pid}
  end

  defp pass(store, ms), do: :counters.add(store.time, 1, ms)

  defp create(store, changes \\ %{}) do
    task = Map.merge(%{task() | created_ms: :counters.get(store.time, 1)}, changes)
    {ETS.create(store.namespace, task), task.id}
  end

  test "a task is kept for its time and not a moment longer" do
    store = start([])
    {:ok, id} = create(store, %{ttl_ms: 100})
    pass(store, 99)
    assert {:ok, _task} = ETS.fetch(store.namespace, id)
    pass(store, 1)
    assert ETS.fetch(store.namespace, id) == {:error, :unknown}
  end

  test "the total is bounded, and sweeping gives room back" do
    store = start(max_tasks: 2)
    for _ <- 1..2, do: {:ok, _id} = create(store, %{ttl_ms: 100})
    assert {{:error, :full}, _id} = create(store)
    pass(store, 100)
    send(store.pid, :sweep)
    assert {:ok, _id} = create(store)
    assert ETS.count(store.namespace) == 1
  end

  test "one principal's tasks are bounded, others and the anonymous are not" do
    store = start(max_tasks_per_principal: 1)
    {:ok, id} = create(store, %{principal: "alice"})
    assert {{:error, :full}, _id} = create(store, %{principal: "alice"})
    for principal <- ["bob", nil, nil], do: {:ok, _id} = create(store, %{principal: principal})
    :ok = ETS.delete(store.namespace, id)
    assert {:ok, _id} = create(store, %{principal: "alice"})
  end

  test "bytes are bounded, of requests and of results" do
    store = start(max_task_bytes: 2_000)
    {:ok, id} = create(store, %{request_bytes: 1_500})
    assert {{:error, :full}, _id} = create(store, %{request_bytes: 501})
    {:ok, other} = create(store, %{request_bytes: 500})

    large = &{:ok, %{&1 | detail: String.duplicate("x", 501), request_bytes: 0}}
    assert ETS.update(store.namespace, other, large) == {:error, :full}
    assert {:ok, %{request_bytes: 500, detail: nil}} = ETS.fetch(store.namespace, other)

    small = &{:ok, %{&1 | detail: "{}", request_bytes: 0}}
    assert {:ok, _task} = ETS.update(store.namespace, id, small)
    assert {:ok, _task} = ETS.update(store.namespace, other, large)
    :ok = ETS.delete(store.namespace, other)
    assert {:ok, _id} = create(store, %{request_bytes: 1_998})
    assert {{:error, :full}, _id} = create(store, %{request_bytes: 1})
  end

  test "what takes no more room than before is written in a store that is full" do
    store = start(max_task_bytes: 1_024)
    {:ok, id} = create(store, %{request_bytes: 1_024})
    assert {:ok, _task} = ETS.update(store.namespace, id, &{:ok, %{&1 | status: :cancelled}})
  end
end
