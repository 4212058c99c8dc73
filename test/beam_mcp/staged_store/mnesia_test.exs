defmodule BeamMCP.StagedStore.MnesiaTest do
  use BeamMCP.StagedStoreCase, async: false, store: {BeamMCP.StagedStore.Mnesia, []}

  alias BeamMCP.StagedStore.Mnesia
  alias BeamMCP.StagedStoreCase

  setup_all do
    BeamMCP.Test.Mnesia.start()
    on_exit(fn -> Application.stop(:mnesia) end)
  end

  test "is bounded, and what has expired gives its room back" do
    time = :counters.new(1, [])
    options = [max_staged: 2, clock: fn -> :counters.get(time, 1) end]
    pid = start_supervised!(Mnesia.child_spec({:bounded, options}) |> Map.put(:id, :bounded))
    entry = %{StagedStoreCase.entry(1) | expires_ms: 100}
    for id <- ["a", "b"], do: assert(Mnesia.put(:bounded, id, entry) == :ok)
    assert Mnesia.put(:bounded, "c", entry) == {:error, :full}
    :counters.add(time, 1, 100)
    send(pid, :sweep)
    :sys.get_state(pid)
    assert Mnesia.put(:bounded, "c", entry) == :ok
  end

  test "a store that is gone has nothing" do
    assert Mnesia.put(:nowhere, "a", StagedStoreCase.entry(1)) == {:error, :unavailable}
    assert Mnesia.fetch(:nowhere, "a") == {:error, :unavailable}
    assert Mnesia.take(:nowhere, "a", "ada") == {:error, :unavailable}
  end
end
