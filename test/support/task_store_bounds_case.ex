defmodule BeamMCP.TaskStoreBoundsCase do
  @moduledoc """
  What the stores of this library do about time and room, as tests with a clock that is moved by hand.
  Stands beside `BeamMCP.TaskStoreCase`.
  """

  use ExUnit.CaseTemplate

  using options do
    quote do
      @bounded unquote(options[:store])

      test "a task is kept for its time and not a moment longer" do
        store = start([])
        {:ok, id} = create(store, %{ttl_ms: 100})
        pass(store, 99)
        assert {:ok, _task} = @bounded.fetch(store.namespace, id)
        pass(store, 1)
        assert @bounded.fetch(store.namespace, id) == {:error, :unknown}
      end

      test "the total is bounded, and sweeping gives room back" do
        store = start(max_tasks: 2)
        for _ <- 1..2, do: {:ok, _id} = create(store, %{ttl_ms: 100})
        assert {{:error, :full}, _id} = create(store)
        pass(store, 100)
        send(store.pid, :sweep)
        :sys.get_state(store.pid)
        assert {:ok, _id} = create(store)
        assert @bounded.count(store.namespace) == 1
      end

      test "of many that begin at the same time no more do than find room" do
        store = start(max_tasks: 5)
        begun = at_once(50, fn _number -> create(store) end)
        assert Enum.count(begun, &match?({:ok, _id}, &1)) == 5
        assert Enum.count(begun, &match?({{:error, :full}, _id}, &1)) == 45
      end

      test "of many that grow at the same time no more do than find room" do
        for _round <- 1..5 do
          store = start(max_task_bytes: 5_000)
          ids = for _ <- 1..50, {:ok, id} = create(store), do: id
          grow = &{:ok, %{&1 | detail: String.duplicate("x", 2_000)}}
          grown = at_once(50, &@bounded.update(store.namespace, Enum.at(ids, &1 - 1), grow))
          assert Enum.count(grown, &match?({:ok, _task}, &1)) == 2
          assert Enum.count(grown, &(&1 == {:error, :full})) == 48
        end
      end

      test "one principal's tasks are bounded, others and the anonymous are not" do
        store = start(max_tasks_per_principal: 1)
        {:ok, id} = create(store, %{principal: "alice"})
        assert {{:error, :full}, _id} = create(store, %{principal: "alice"})

        for principal <- ["bob", nil, nil],
            do: {:ok, _id} = create(store, %{principal: principal})

        :ok = @bounded.delete(store.namespace, id)
        assert {:ok, _id} = create(store, %{principal: "alice"})
      end

      test "bytes are bounded, of requests and of results" do
        store = start(max_task_bytes: 2_000)
        {:ok, id} = create(store, %{request_bytes: 1_500})
        assert {{:error, :full}, _id} = create(store, %{request_bytes: 501})
        {:ok, other} = create(store, %{request_bytes: 500})

        large = &{:ok, %{&1 | detail: String.duplicate("x", 501), request_bytes: 0}}
        assert @bounded.update(store.namespace, other, large) == {:error, :full}
        assert {:ok, %{request_bytes: 500, detail: nil}} = @bounded.fetch(store.namespace, other)

        small = &{:ok, %{&1 | detail: "{}", request_bytes: 0}}
        assert {:ok, _task} = @bounded.update(store.namespace, id, small)
        assert {:ok, _task} = @bounded.update(store.namespace, other, large)
        :ok = @bounded.delete(store.namespace, other)
        assert {:ok, _id} = create(store, %{request_bytes: 1_998})
        assert {{:error, :full}, _id} = create(store, %{request_bytes: 1})
      end

      test "what takes no more room than before is written in a store that is full" do
        store = start(max_task_bytes: 1_024)
        {:ok, id} = create(store, %{request_bytes: 1_024})

        assert {:ok, _task} =
                 @bounded.update(store.namespace, id, &{:ok, %{&1 | status: :cancelled}})
      end

      defp start(options) do
        namespace = BeamMCP.SessionStoreCase.namespace()
        time = :counters.new(1, [])
        options = [clock: fn -> :counters.get(time, 1) end] ++ options
        spec = Map.put(@bounded.child_spec({namespace, options}), :id, namespace)
        %{namespace: namespace, time: time, pid: start_supervised!(spec)}
      end

      defp at_once(count, fun) do
        1..count |> Enum.map(&Task.async(fn -> fun.(&1) end)) |> Task.await_many()
      end

      defp pass(store, ms), do: :counters.add(store.time, 1, ms)

      defp create(store, changes \\ %{}) do
        task = Map.merge(%{task() | created_ms: :counters.get(store.time, 1)}, changes)
        {@bounded.create(store.namespace, task), task.id}
      end
    end
  end
end
