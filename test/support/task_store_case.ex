defmodule BeamMCP.TaskStoreCase do
  @moduledoc """
  What every `BeamMCP.TaskStore` must do, as tests.

      defmodule MyApp.TaskStoreTest do
        use BeamMCP.TaskStoreCase, store: {MyApp.TaskStore, options}
      end

  The options must permit at least 100 tasks.
  """

  use ExUnit.CaseTemplate

  alias BeamMCP.TaskStore

  using options do
    quote do
      import BeamMCP.TaskStoreCase, only: [task: 0, task: 1]

      @store unquote(options[:store])

      setup do
        namespace = BeamMCP.SessionStoreCase.namespace()
        {module, store_options} = @store
        start_supervised!(module.child_spec({namespace, store_options}))
        {:ok, module: module, namespace: namespace}
      end

      test "gives back what was kept", %{module: store, namespace: namespace} do
        task = task()
        assert store.create(namespace, task) == :ok
        assert store.fetch(namespace, task.id) == {:ok, task}
        assert store.count(namespace) == 1
      end

      test "knows no id that was not kept", %{module: store, namespace: namespace} do
        for id <- ["", "unknown", <<255, 0>>, String.duplicate("x", 10_000)] do
          assert store.fetch(namespace, id) == {:error, :unknown}
          assert store.update(namespace, id, &{:ok, &1}) == {:error, :unknown}
          assert store.delete(namespace, id) == {:error, :unknown}
        end
      end

      test "changes what it is told to and no more", %{module: store, namespace: namespace} do
        [one, other] = [task(), task()]
        for task <- [one, other], do: :ok = store.create(namespace, task)
        completed = %{one | status: :completed, detail: "{}"}

        assert store.update(namespace, one.id, fn ^one -> {:ok, completed} end) ==
                 {:ok, completed}

        assert store.fetch(namespace, one.id) == {:ok, completed}
        assert store.fetch(namespace, other.id) == {:ok, other}
        assert store.update(namespace, one.id, fn _ -> {:error, :ended} end) == {:error, :ended}
        assert store.fetch(namespace, one.id) == {:ok, completed}
      end

      test "lets changes happen one after the other", %{module: store, namespace: namespace} do
        task = task()
        :ok = store.create(namespace, task)
        add = &{:ok, %{&1 | request_bytes: &1.request_bytes + 1}}

        1..50
        |> Enum.map(fn _ -> Task.async(fn -> store.update(namespace, task.id, add) end) end)
        |> Task.await_many()

        assert {:ok, %{request_bytes: 50}} = store.fetch(namespace, task.id)
      end

      test "forgets a task once", %{module: store, namespace: namespace} do
        task = task()
        :ok = store.create(namespace, task)
        assert store.delete(namespace, task.id) == :ok
        assert store.delete(namespace, task.id) == {:error, :unknown}
        assert store.fetch(namespace, task.id) == {:error, :unknown}
        assert store.count(namespace) == 0
      end

      test "forgets a task whose time is up", %{module: store, namespace: namespace} do
        task = %{task() | ttl_ms: 1}
        :ok = store.create(namespace, task)
        Process.sleep(5)
        assert store.fetch(namespace, task.id) == {:error, :unknown}
        assert store.update(namespace, task.id, &{:ok, &1}) == {:error, :unknown}
      end

      test "keeps namespaces apart", %{module: store, namespace: namespace} do
        other = BeamMCP.SessionStoreCase.namespace()
        {module, store_options} = @store
        start_supervised!(module.child_spec({other, store_options}) |> Map.put(:id, other))
        task = task()
        :ok = store.create(namespace, task)
        assert store.fetch(other, task.id) == {:error, :unknown}
      end

      test "makes no atoms", %{module: store, namespace: namespace} do
        store.fetch(namespace, "warm")
        fetch = &store.fetch(namespace, "no-such-task-#{&1}")
        assert BeamMCP.Test.Atoms.made(1_000, fetch) < 50
      end
    end
  end

  @doc "A task to keep."
  def task(principal \\ nil) do
    now_ms = System.os_time(:millisecond)

    %{
      id: TaskStore.new_id(),
      principal: principal,
      status: :working,
      status_message: nil,
      created_ms: now_ms,
      updated_ms: now_ms,
      ttl_ms: 60_000,
      poll_interval_ms: 1_000,
      detail: nil,
      request_bytes: 0,
      keeper: self()
    }
  end
end
