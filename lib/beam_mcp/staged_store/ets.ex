defmodule BeamMCP.StagedStore.ETS do
  @moduledoc """
  Entries in memory of one node.

  ## Options

  #{BeamMCP.Options.docs(:staged_ets)}

  No process is asked for an entry; one owns them, and they end with it and with the instance.
  """

  @behaviour BeamMCP.StagedStore

  use GenServer

  alias BeamMCP.{Instance, Options, StagedStore}

  # A row is `{id, owner, data, expires_ms, :open | :taken}`.

  @impl StagedStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &wall_ms/0)

    settings =
      :staged_ets |> Options.validate!(options, "staged_store.") |> Map.put(:clock, clock)

    %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, settings]}}
  end

  @doc false
  @spec start_link(StagedStore.namespace(), map()) :: GenServer.on_start()
  def start_link(namespace, settings),
    do: GenServer.start_link(__MODULE__, {namespace, settings})

  @impl StagedStore
  def put(namespace, id, entry) do
    with {:ok, %{table: table, settings: settings}} <- opened(namespace) do
      row = {id, entry.owner, entry.data, entry.expires_ms, :open}

      cond do
        :ets.info(table, :size) >= settings.max_staged -> {:error, :full}
        :ets.insert_new(table, row) -> :ok
        true -> {:error, :exists}
      end
    end
  end

  @impl StagedStore
  def fetch(namespace, id) do
    with {:ok, %{table: table, settings: settings}} <- opened(namespace) do
      case :ets.lookup(table, id) do
        [{^id, owner, data, expires_ms, state}] ->
          if expires_ms > settings.clock.(),
            do: {:ok, %{owner: owner, data: data, expires_ms: expires_ms}, state},
            else: {:error, :unknown}

        [] ->
          {:error, :unknown}
      end
    end
  end

  @impl StagedStore
  def take(namespace, id, owner) do
    with {:ok, %{table: table}} <- opened(namespace),
         {:ok, %{owner: ^owner, data: data}, :open} <- fetch(namespace, id),
         1 <- :ets.select_replace(table, taken(id)) do
      {:ok, data}
    else
      {:error, :unavailable} -> {:error, :unavailable}
      _unknown_or_taken -> {:error, :unknown}
    end
  end

  @impl GenServer
  def init({namespace, settings}) do
    table = :ets.new(:staged, [:public, read_concurrency: true])
    opened = %{table: table, settings: settings}
    :ok = Instance.register(namespace, __MODULE__, opened)
    schedule_sweep(settings)
    {:ok, Map.put(opened, :namespace, namespace)}
  end

  @impl GenServer
  def handle_info(:sweep, state) do
    expired = {:"=<", :"$1", state.settings.clock.()}
    :ets.select_delete(state.table, [{{:_, :_, :_, :"$1", :_}, [expired], [true]}])
    schedule_sweep(state.settings)
    {:noreply, state}
  end

  def handle_info({:EXIT, _registry, _reason}, state) do
    :ok = Instance.register(state.namespace, __MODULE__, Map.delete(state, :namespace))
    {:noreply, state}
  end

  def handle_info(_late, state), do: {:noreply, state}

  # In one step, so that nobody takes it at the same time. The data is not needed any more.
  defp taken(id) do
    [{{id, :"$1", :_, :"$2", :open}, [], [{{id, :"$1", nil, :"$2", :taken}}]}]
  end

  defp opened(namespace) do
    case Registry.lookup(BeamMCP.Registry, {namespace, __MODULE__}) do
      [{_pid, opened}] -> {:ok, opened}
      [] -> {:error, :unavailable}
    end
  end

  defp schedule_sweep(settings),
    do: Process.send_after(self(), :sweep, settings.sweep_interval_ms)

  defp wall_ms, do: System.system_time(:millisecond)
end
