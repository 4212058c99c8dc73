defmodule BeamMCP.ReplayStore.ETS do
  @moduledoc """
  Proofs in memory of one node.

  ## Options

  #{BeamMCP.Options.docs(:replay_ets)}

  A proof is claimed without asking any process. Those that are too old to be shown again are
  removed by one that sweeps.
  """

  @behaviour BeamMCP.ReplayStore

  use GenServer

  alias BeamMCP.{Instance, Options, ReplayStore}

  @impl ReplayStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &monotonic_ms/0)

    settings =
      :replay_ets |> Options.validate!(options, "replay_store.") |> Map.put(:clock, clock)

    %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, settings]}}
  end

  @doc false
  @spec start_link(ReplayStore.namespace(), map()) :: GenServer.on_start()
  def start_link(namespace, settings) do
    GenServer.start_link(__MODULE__, {namespace, settings})
  end

  @impl ReplayStore
  def claim(namespace, key, ttl_s) do
    [{_pid, {table, settings}}] = Registry.lookup(BeamMCP.Registry, {namespace, __MODULE__})

    now_ms = settings.clock.()
    row = {key, now_ms + ttl_s * 1_000}

    cond do
      :ets.info(table, :size) >= settings.max_proofs -> {:error, :full}
      :ets.insert_new(table, row) -> :new
      :ets.select_replace(table, outlived(row, now_ms)) == 1 -> :new
      true -> :seen
    end
  end

  @impl GenServer
  def init({namespace, settings}) do
    table = :ets.new(__MODULE__, [:public, write_concurrency: true])
    opened = {table, settings}
    :ok = Instance.register(namespace, __MODULE__, opened)
    schedule_sweep(settings)
    {:ok, {namespace, opened}}
  end

  @impl GenServer
  def handle_info(:sweep, {_namespace, {table, settings}} = state) do
    schedule_sweep(settings)
    :ets.select_delete(table, [{{:_, :"$1"}, [{:"=<", :"$1", settings.clock.()}], [true]}])
    {:noreply, state}
  end

  def handle_info({:EXIT, _registry, _reason}, {namespace, opened} = state) do
    :ok = Instance.register(namespace, __MODULE__, opened)
    {:noreply, state}
  end

  def handle_info(_late, state), do: {:noreply, state}

  # Puts `row` in the place of one with the same key whose time is over, in one step.
  defp outlived({key, _until_ms} = row, now_ms) do
    [{{key, :"$1"}, [{:"=<", :"$1", now_ms}], [{:const, row}]}]
  end

  defp schedule_sweep(settings),
    do: Process.send_after(self(), :sweep, settings.sweep_interval_ms)

  defp monotonic_ms, do: System.monotonic_time(:millisecond)
end
