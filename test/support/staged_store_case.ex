defmodule BeamMCP.StagedStoreCase do
  @moduledoc """
  What every `BeamMCP.StagedStore` must do, as tests.

      defmodule MyApp.StagedStoreTest do
        use BeamMCP.StagedStoreCase, store: {MyApp.StagedStore, options}
      end

  The options must permit at least 100 entries.
  """

  use ExUnit.CaseTemplate

  using options do
    quote do
      @store unquote(options[:store])

      setup do
        {module, store_options} = @store
        namespace = BeamMCP.SessionStoreCase.namespace()
        start_supervised!(module.child_spec({namespace, store_options}))
        {:ok, module: module, namespace: namespace}
      end

      test "gives what was kept to its owner, once", %{module: store, namespace: namespace} do
        entry = BeamMCP.StagedStoreCase.entry(%{any: {"term", 1}})
        assert store.put(namespace, "a", entry) == :ok
        assert store.fetch(namespace, "a") == {:ok, entry, :open}
        assert store.take(namespace, "a", "bob") == {:error, :unknown}
        assert store.take(namespace, "a", "ada") == {:ok, entry.data}
        assert store.take(namespace, "a", "ada") == {:error, :unknown}
        assert {:ok, %{owner: "ada"}, :taken} = store.fetch(namespace, "a")
      end

      test "keeps no second entry of an id, taken or not", %{module: store, namespace: namespace} do
        entry = BeamMCP.StagedStoreCase.entry(1)
        assert store.put(namespace, "a", entry) == :ok
        assert store.put(namespace, "a", %{entry | data: 2}) == {:error, :exists}
        assert store.take(namespace, "a", "ada") == {:ok, 1}
        assert store.put(namespace, "a", entry) == {:error, :exists}
      end

      test "of many that take or put one succeeds", %{module: store, namespace: namespace} do
        entry = BeamMCP.StagedStoreCase.entry(1)
        put = fn -> store.put(namespace, "a", entry) end
        assert Enum.count(BeamMCP.StagedStoreCase.at_once(put), &(&1 == :ok)) == 1
        take = fn -> store.take(namespace, "a", "ada") end
        assert Enum.count(BeamMCP.StagedStoreCase.at_once(take), &(&1 == {:ok, 1})) == 1
      end

      test "knows nothing that has expired", %{module: store, namespace: namespace} do
        expired = %{BeamMCP.StagedStoreCase.entry(1) | expires_ms: 1}
        assert store.put(namespace, "a", expired) == :ok
        assert store.fetch(namespace, "a") == {:error, :unknown}
        assert store.take(namespace, "a", "ada") == {:error, :unknown}
      end

      test "makes no atoms", %{module: store, namespace: namespace} do
        store.fetch(namespace, "warm")
        take = &store.take(namespace, "no-such-#{&1}", "ada")
        assert BeamMCP.Test.Atoms.made(1_000, take) < 50
      end
    end
  end

  @doc "An entry of `ada`'s."
  def entry(data),
    do: %{owner: "ada", data: data, expires_ms: System.system_time(:millisecond) + 60_000}

  @doc "The results of twenty processes that do the same."
  def at_once(fun) do
    1..20 |> Enum.map(fn _ -> Task.async(fun) end) |> Enum.map(&Task.await/1)
  end
end
