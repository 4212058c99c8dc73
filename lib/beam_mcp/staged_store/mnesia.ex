defmodule BeamMCP.StagedStore.Mnesia do
  @moduledoc """
  Entries that several nodes have in common, in the Mnesia that the host runs, by the rules of
  `BeamMCP.SessionStore.Mnesia`: one table, named after the instance's `namespace`, and a node without
  a majority of the copies has none.

  ## Options

  #{BeamMCP.Options.docs(:staged_mnesia)}
  """

  @behaviour BeamMCP.StagedStore
  @behaviour BeamMCP.Mnesia.Tables

  alias BeamMCP.{Mnesia, Options, StagedStore}
  alias BeamMCP.Mnesia.Tables

  # A row is `{table, id, owner, data, expires_ms, :open | :taken}`.
  @definition [attributes: [:id, :owner, :data, :expires_ms, :state], type: :set]

  @impl StagedStore
  def shared?, do: true

  @impl StagedStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &Mnesia.wall_ms/0)
    settings = Options.validate!(:staged_mnesia, options, "staged_store.")
    store = %{table: Mnesia.table!("staged", namespace), settings: settings, clock: clock}
    Tables.child_spec({__MODULE__, namespace, store})
  end

  @impl StagedStore
  def put(namespace, id, entry) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace),
         :ok <- Mnesia.transaction(fn -> put_in_table(store, id, entry) end),
         do: Mnesia.settle(store.table, id)
  end

  @impl StagedStore
  def fetch(namespace, id) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace) do
      case Mnesia.read(store.table, id) do
        [{_table, ^id, owner, data, expires_ms, state}] ->
          if expires_ms > store.clock.(),
            do: {:ok, %{owner: owner, data: data, expires_ms: expires_ms}, state},
            else: {:error, :unknown}

        [] ->
          {:error, :unknown}
      end
    end
  end

  @impl StagedStore
  def take(namespace, id, owner) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace),
         {:ok, data} <- Mnesia.transaction(fn -> take_from_table(store, id, owner) end) do
      :ok = Mnesia.settle(store.table, id)
      {:ok, data}
    end
  end

  @impl Tables
  def tables(store), do: [{store.table, @definition}]

  @impl Tables
  def sweep(store) do
    expired = {:"=<", :"$2", store.clock.()}
    ids = [{{store.table, :"$1", :_, :_, :"$2", :_}, [expired], [:"$1"]}]
    Mnesia.sweep(store.table, ids, &Mnesia.delete(store.table, &1))
  end

  defp put_in_table(store, id, entry) do
    cond do
      Mnesia.lock(store.table, id) != [] -> {:error, :exists}
      Mnesia.size(store.table) >= store.settings.max_staged -> {:error, :full}
      true -> Mnesia.write({store.table, id, entry.owner, entry.data, entry.expires_ms, :open})
    end
  end

  # The data is not needed any more.
  defp take_from_table(store, id, owner) do
    now_ms = store.clock.()

    case Mnesia.lock(store.table, id) do
      [{table, ^id, ^owner, data, expires_ms, :open}] when expires_ms > now_ms ->
        :ok = Mnesia.write({table, id, owner, nil, expires_ms, :taken})
        {:ok, data}

      _unknown_or_taken ->
        {:error, :unknown}
    end
  end
end
