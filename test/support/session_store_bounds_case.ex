defmodule BeamMCP.SessionStoreBoundsCase do
  @moduledoc """
  What the stores of this library do about time and room, as tests with a clock that is moved by hand.
  Stands beside `BeamMCP.SessionStoreCase`.
  """

  use ExUnit.CaseTemplate

  using options do
    quote do
      @bounded unquote(options[:store])

      test "a session unused too long ends; use keeps it" do
        store = start(idle_timeout_ms: 100, lifetime_ms: 1_000)
        id = create(store)

        for _ <- 1..5 do
          pass(store, 99)
          assert {:ok, _session} = @bounded.fetch(store.namespace, id)
        end

        pass(store, 100)
        assert @bounded.fetch(store.namespace, id) == {:error, :unknown}
        assert @bounded.update(store.namespace, id, &{:ok, &1}) == {:error, :unknown}
      end

      test "a session ends at its age, used or not" do
        store = start(idle_timeout_ms: 1_000, lifetime_ms: 250)
        id = create(store)
        pass(store, 249)
        assert {:ok, _session} = @bounded.fetch(store.namespace, id)
        pass(store, 1)
        assert @bounded.fetch(store.namespace, id) == {:error, :unknown}
      end

      test "the total is bounded, and room comes back" do
        store = start(max_sessions: 2)
        first = create(store)
        create(store)

        assert @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session()) ==
                 {:error, :full}

        :ok = @bounded.delete(store.namespace, first)
        assert {:ok, _id} = @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session())
      end

      test "of many that open at the same time no more get in than find room" do
        store = start(max_sessions: 5)
        open = fn -> @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session()) end
        opened = 1..50 |> Enum.map(fn _ -> Task.async(open) end) |> Task.await_many()
        assert Enum.count(opened, &match?({:ok, _id}, &1)) == 5
        assert Enum.count(opened, &(&1 == {:error, :full})) == 45
      end

      test "a new session takes the place of the oldest that was left unused, not sooner than it may" do
        store = start(max_sessions: 3)
        used = create(store)
        assert {:ok, _session} = @bounded.fetch(store.namespace, used)
        pass(store, 1)
        [oldest, younger] = for _ <- 1..2, do: create(store) |> tap(fn _id -> pass(store, 1) end)
        pass(store, 9_997)

        assert @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session()) ==
                 {:error, :full}

        pass(store, 1)
        newest = create(store)
        assert @bounded.fetch(store.namespace, oldest) == {:error, :unknown}

        for id <- [used, younger, newest],
            do: assert({:ok, _} = @bounded.fetch(store.namespace, id))

        pass(store, 60_000)

        assert @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session()) ==
                 {:error, :full}
      end

      test "what ends in another way leaves no place to take" do
        store = start(max_sessions: 2, max_sessions_per_principal: 1, idle_timeout_ms: 30_000)
        deleted = create(store, "alice")
        pass(store, 1)
        create(store, "bob")
        :ok = @bounded.delete(store.namespace, deleted)
        pass(store, 1)
        create(store, "alice")

        pass(store, 10_000)

        assert @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session("alice")) ==
                 {:error, :full}

        for _ <- 1..2, do: create(store)

        assert @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session()) ==
                 {:error, :full}

        pass(store, 30_000)
        sweep(store)
        for _ <- 1..2, do: create(store)

        assert @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session()) ==
                 {:error, :full}
      end

      test "one principal's sessions are bounded, others and the anonymous are not" do
        store = start(max_sessions_per_principal: 1)
        id = create(store, "alice")

        assert @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session("alice")) ==
                 {:error, :full}

        create(store, "bob")
        create(store)
        create(store)
        :ok = @bounded.delete(store.namespace, id)
        create(store, "alice")
      end

      test "sweeping removes what has ended and gives its room back" do
        store = start(max_sessions: 2, max_sessions_per_principal: 1, idle_timeout_ms: 100)
        create(store, "alice")
        pass(store, 50)
        kept = create(store, "bob")
        pass(store, 50)
        sweep(store)
        create(store, "alice")
        assert {:ok, _session} = @bounded.fetch(store.namespace, kept)
      end

      defp start(options) do
        namespace = BeamMCP.SessionStoreCase.namespace()
        time = :counters.new(1, [])
        options = [clock: fn -> :counters.get(time, 1) end] ++ options
        spec = Map.put(@bounded.child_spec({namespace, options}), :id, namespace)
        %{namespace: namespace, time: time, pid: start_supervised!(spec)}
      end

      defp sweep(store) do
        send(store.pid, :sweep)
        :sys.get_state(store.pid)
      end

      defp pass(store, ms), do: :counters.add(store.time, 1, ms)

      defp create(store, principal \\ nil) do
        {:ok, id} = @bounded.create(store.namespace, BeamMCP.SessionStoreCase.session(principal))

        id
      end
    end
  end
end
