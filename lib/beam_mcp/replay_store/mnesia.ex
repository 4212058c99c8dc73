defmodule BeamMCP.ReplayStore.Mnesia do
  @moduledoc """
  Proofs that several nodes have seen, in the Mnesia that the host runs, by the rules of
  `BeamMCP.SessionStore.Mnesia`: one table, named after the instance's `namespace`, and a node without
  a majority of the copies accepts no proof (503).

  ## Options

  #{BeamMCP.Options.docs(:replay_mnesia)}

  A claim is one transaction over all copies, so that of all nodes one accepts a proof. Nodes whose
  clocks differ by less than a minute forget none too early.
  """

  @behaviour BeamMCP.ReplayStore

  use GenServer

  alias BeamMCP.{Instance, Mnesia, Options, ReplayStore}

  # A row is `{table, key, until_ms}`.
  @definition [attributes: [:key, :until_ms], type: :set]

  # By so much the clock of the node that sweeps may be ahead of the others.
  @skew_ms 60_000

  # Proofs that one transaction of a sweep removes.
  @batch 1_000

  @impl ReplayStore
  def shared?, do: true

  @impl ReplayStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &wall_ms/0)
    settings = Options.validate!(:replay_mnesia, options, "replay_store.")
    opened = %{table: Mnesia.table!("replays", namespace), settings: settings, clock: clock}
    %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, opened]}}
  end

  @doc false
  @spec start_link(ReplayStore.namespace(), map()) :: GenServer.on_start()
  def start_link(namespace, opened), do: GenServer.start_link(__MODULE__, {namespace, opened})

  @impl ReplayStore
  def claim(namespace, key, ttl_s) do
    with {:ok, store} <- opened(namespace) do
      until_ms = store.clock.() + ttl_s * 1_000
      transaction(fn -> claim_in(store, key, until_ms) end)
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

  # The row is locked on every copy, so that others wait until what is written here is there.
  defp claim_in(store, key, until_ms) do
    seen? =
      case Mnesia.lock(store.table, key) do
        [{_table, ^key, seen_until_ms}] -> seen_until_ms > store.clock.()
        [] -> false
      end

    cond do
      seen? -> :seen
      Mnesia.size(store.table) >= store.settings.max_proofs -> {:error, :full}
      true -> write(store.table, key, until_ms)
    end
  end

  defp write(table, key, until_ms) do
    :ok = Mnesia.write({table, key, until_ms})
    :new
  end

  defp sweep(store) do
    old = {:"=<", :"$2", store.clock.() - @skew_ms}
    keys = Mnesia.select(store.table, [{{store.table, :"$1", :"$2"}, [old], [:"$1"]}])

    for keys <- Enum.chunk_every(keys, @batch) do
      transaction(fn -> Enum.each(keys, &Mnesia.delete(store.table, &1)) end)
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
