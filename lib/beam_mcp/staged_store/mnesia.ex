defmodule BeamMCP.StagedStore.Mnesia do
  @moduledoc """
  Entries that several nodes have in common, in the Mnesia that the host runs, by the rules of
  `BeamMCP.SessionStore.Mnesia`: one table, named after the instance's `namespace`, and a node without
  a majority of the copies has none.

  ## Options

  #{BeamMCP.Options.docs(:staged_mnesia)}
  """

  @behaviour BeamMCP.StagedStore

  use GenServer

  alias BeamMCP.{Instance, Mnesia, Options, StagedStore}

  # A row is `{table, id, owner, data, expires_ms, :open | :taken}`.
  @definition [attributes: [:id, :owner, :data, :expires_ms, :state], type: :set]

  @impl StagedStore
  def shared?, do: true

  @impl StagedStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &wall_ms/0)
    settings = Options.validate!(:staged_mnesia, options, "staged_store.")
    opened = %{table: Mnesia.table!("staged", namespace), settings: settings, clock: clock}
    %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, opened]}}
  end

  @doc false
  @spec start_link(StagedStore.namespace(), map()) :: GenServer.on_start()
  def start_link(namespace, opened), do: GenServer.start_link(__MODULE__, {namespace, opened})

  @impl StagedStore
  def put(namespace, id, entry) do
    with {:ok, store} <- opened(namespace),
         :ok <- transaction(fn -> put_in_table(store, id, entry) end),
         do: Mnesia.settle(store.table, id)
  end

  @impl StagedStore
  def fetch(namespace, id) do
    with {:ok, store} <- opened(namespace) do
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
    with {:ok, store} <- opened(namespace),
         {:ok, data} <- transaction(fn -> take_from_table(store, id, owner) end) do
      :ok = Mnesia.settle(store.table, id)
      {:ok, data}
    end
  end

  @impl GenServer
  def init({namespace, store}) do
    Process.flag(:trap_exit, true)

    case Mnesia.open(store.table, @definition, store.settings) do
      :ok ->
        :ok = Instance.register(namespace, __MODULE__, store)
        schedule_sweep(store)
        {:ok, {namespace, store}}

      {:error, text} ->
        {:stop, text}
    end
  end

  @impl GenServer
  def handle_info(:sweep, {_namespace, store} = state) do
    if Mnesia.first?(store.table), do: sweep(store)
    schedule_sweep(store)
    {:noreply, state}
  end

  def handle_info({:EXIT, _registry, _reason}, {namespace, store} = state) do
    :ok = Instance.register(namespace, __MODULE__, store)
    {:noreply, state}
  end

  def handle_info(_late, state), do: {:noreply, state}

  @impl GenServer
  def terminate(:shutdown, {_namespace, store}), do: Mnesia.leave(store.table)
  def terminate(_fault, _state), do: :ok

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

  defp sweep(store) do
    expired = {:"=<", :"$2", store.clock.()}
    ids = [{{store.table, :"$1", :_, :_, :"$2", :_}, [expired], [:"$1"]}]

    for ids <- store.table |> Mnesia.select(ids) |> Enum.chunk_every(100) do
      transaction(fn -> Enum.each(ids, &Mnesia.delete(store.table, &1)) end)
    end
  end

  defp transaction(fun) do
    with {:ok, result} <- Mnesia.transaction(fun), do: result
  end

  defp opened(namespace) do
    with [{_pid, store}] <- Registry.lookup(BeamMCP.Registry, {namespace, __MODULE__}),
         true <- Mnesia.available?(store.table) do
      {:ok, store}
    else
      _none_or_minority -> {:error, :unavailable}
    end
  end

  defp schedule_sweep(store),
    do: Process.send_after(self(), :sweep, store.settings.sweep_interval_ms)

  defp wall_ms, do: System.system_time(:millisecond)
end
