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
  @behaviour BeamMCP.Mnesia.Tables

  alias BeamMCP.{Mnesia, Options, ReplayStore}
  alias BeamMCP.Mnesia.Tables

  # A row is `{table, key, until_ms}`.
  @definition [attributes: [:key, :until_ms], type: :set]

  # By so much the clock of the node that sweeps may be ahead of the others.
  @skew_ms 60_000

  @impl ReplayStore
  def shared?, do: true

  @impl ReplayStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &Mnesia.wall_ms/0)
    settings = Options.validate!(:replay_mnesia, options, "replay_store.")
    store = %{table: Mnesia.table!("replays", namespace), settings: settings, clock: clock}
    Tables.child_spec({__MODULE__, namespace, store})
  end

  @impl ReplayStore
  def claim(namespace, key, ttl_s) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace) do
      until_ms = store.clock.() + ttl_s * 1_000
      Mnesia.transaction(fn -> claim_in(store, key, until_ms) end)
    end
  end

  @impl Tables
  def tables(store), do: [{store.table, @definition}]

  @impl Tables
  def sweep(store) do
    old = {:"=<", :"$2", store.clock.() - @skew_ms}
    keys = [{{store.table, :"$1", :"$2"}, [old], [:"$1"]}]
    Mnesia.sweep(store.table, keys, &Mnesia.delete(store.table, &1))
  end

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
end
