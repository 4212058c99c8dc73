defmodule BeamMCP.Connectome.Observed.TablesTest do
  # Kills what all collectors share.
  use ExUnit.Case, async: false

  alias BeamMCP.Connectome.Observed
  alias BeamMCP.Connectome.Observed.{Collector, Tables}

  @edge [{:server, "s"}, {:tool, "s", :t}, :invoke]

  test "collectors begin anew when the owner of their tables has died" do
    pid = start_supervised!({Observed, name: __MODULE__, instances: []})
    :ok = apply(Observed, :observe, [__MODULE__ | @edge])
    {:ok, stale} = Collector.fetch(__MODULE__)
    monitor = Process.monitor(pid)
    Process.exit(Process.whereis(Tables), :kill)

    assert_receive {:DOWN, ^monitor, :process, ^pid, :tables_lost}, 2_000
    until(fn -> renewed?(stale) end)
    :ok = apply(Observed, :observe, [__MODULE__ | @edge])
    assert Observed.size(__MODULE__) == {:ok, %{edges: 1, dropped: 0}}

    # A call that was told of the old table goes on without it.
    assert Collector.row(stale, {:tool, "s", :t}) == nil
    assert Collector.rows(stale) == []
    assert Collector.size(stale) == 0
  end

  defp renewed?(stale) do
    case Collector.fetch(__MODULE__) do
      {:ok, collector} -> collector.table != stale.table
      {:error, :not_started} -> false
    end
  end

  defp until(fun, tries \\ 200) do
    unless fun.() do
      if tries == 0, do: flunk("it did not happen")
      Process.sleep(10)
      until(fun, tries - 1)
    end
  end
end
