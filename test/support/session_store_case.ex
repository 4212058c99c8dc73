defmodule BeamMCP.SessionStoreCase do
  @moduledoc """
  What every `BeamMCP.SessionStore` must do, as tests.

      defmodule MyApp.SessionStoreTest do
        use BeamMCP.SessionStoreCase, store: {MyApp.SessionStore, options}
      end

  The options must permit at least 100 sessions.
  """

  use ExUnit.CaseTemplate

  using options do
    quote do
      @store unquote(options[:store])

      setup do
        namespace = BeamMCP.SessionStoreCase.namespace()
        {module, store_options} = @store
        start_supervised!(module.child_spec({namespace, store_options}))
        {:ok, module: module, namespace: namespace}
      end

      test "gives back what was kept", %{module: store, namespace: namespace} do
        session = BeamMCP.SessionStoreCase.session()
        assert {:ok, id} = store.create(namespace, session)
        assert store.fetch(namespace, id) == {:ok, session}
        assert store.fetch(namespace, id) == {:ok, session}
      end

      test "makes ids of visible ASCII that differ", %{module: store, namespace: namespace} do
        ids =
          for _ <- 1..100 do
            {:ok, id} = store.create(namespace, BeamMCP.SessionStoreCase.session())
            id
          end

        assert Enum.uniq(ids) == ids
        # MCP 2025-11-25 basic/transports: only 0x21 to 0x7E
        for id <- ids, do: assert(id =~ ~r/\A[!-~]{16,256}\z/)
      end

      test "knows no id that it did not make", %{module: store, namespace: namespace} do
        for id <- ["", "unknown", <<255, 0>>, String.duplicate("x", 10_000)] do
          assert store.fetch(namespace, id) == {:error, :unknown}
          assert store.delete(namespace, id) == {:error, :unknown}
        end
      end

      test "forgets a session once", %{module: store, namespace: namespace} do
        {:ok, id} = store.create(namespace, BeamMCP.SessionStoreCase.session())
        {:ok, other} = store.create(namespace, BeamMCP.SessionStoreCase.session())
        assert store.delete(namespace, id) == :ok
        assert store.delete(namespace, id) == {:error, :unknown}
        assert store.fetch(namespace, id) == {:error, :unknown}
        assert {:ok, _session} = store.fetch(namespace, other)
      end

      test "changes what it is told to and no more", %{module: store, namespace: namespace} do
        session = BeamMCP.SessionStoreCase.session()
        {:ok, id} = store.create(namespace, session)
        assert store.update(namespace, id, &{:ok, %{&1 | log_level: "debug"}}) == :ok
        assert store.fetch(namespace, id) == {:ok, %{session | log_level: "debug"}}
        assert store.update(namespace, "unknown", &{:ok, &1}) == {:error, :unknown}
      end

      test "keeps namespaces apart", %{module: store, namespace: namespace} do
        other = BeamMCP.SessionStoreCase.namespace()
        {module, store_options} = @store
        start_supervised!(module.child_spec({other, store_options}) |> Map.put(:id, other))
        {:ok, id} = store.create(namespace, BeamMCP.SessionStoreCase.session())
        assert store.fetch(other, id) == {:error, :unknown}
      end

      test "loses no change that others make at the same time", %{
        module: store,
        namespace: namespace
      } do
        {:ok, id} = store.create(namespace, BeamMCP.SessionStoreCase.session())

        1..20
        |> Enum.map(fn number ->
          change = &{:ok, Map.update!(&1, :subscriptions, fn uris -> [number | uris] end)}
          Task.async(fn -> store.update(namespace, id, change) end)
        end)
        |> Enum.each(&assert(Task.await(&1) == :ok))

        {:ok, session} = store.fetch(namespace, id)
        assert Enum.sort(session.subscriptions) == Enum.to_list(1..20)
      end

      test "leaves a session as it is when a change is refused", %{
        module: store,
        namespace: namespace
      } do
        session = BeamMCP.SessionStoreCase.session()
        {:ok, id} = store.create(namespace, session)
        assert store.update(namespace, id, fn _session -> {:error, :full} end) == {:error, :full}
        assert store.fetch(namespace, id) == {:ok, session}
      end

      test "makes no atoms", %{module: store, namespace: namespace} do
        store.fetch(namespace, "warm")
        fetch = &store.fetch(namespace, "no-such-session-#{&1}")
        assert BeamMCP.Test.Atoms.made(1_000, fetch) < 50
      end
    end
  end

  @doc "A session to keep."
  def session(principal \\ nil) do
    %{
      revision: "2025-11-25",
      client_info: ~s({"name":"test","version":"1"}),
      client_capabilities: "{}",
      principal: principal,
      log_level: nil,
      subscriptions: []
    }
  end

  @doc "A namespace that no other test has."
  def namespace, do: "test-#{System.unique_integer([:positive])}"
end
