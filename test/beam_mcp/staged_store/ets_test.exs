defmodule BeamMCP.StagedStore.ETSTest do
  use BeamMCP.StagedStoreCase, async: true, store: {BeamMCP.StagedStore.ETS, []}

  alias BeamMCP.StagedStore.ETS
  alias BeamMCP.StagedStoreCase

  test "is bounded, and what has expired gives its room back" do
    time = :counters.new(1, [])
    options = [max_staged: 2, clock: fn -> :counters.get(time, 1) end]
    pid = start_supervised!(ETS.child_spec({:bounded, options}) |> Map.put(:id, :bounded))
    entry = %{StagedStoreCase.entry(1) | expires_ms: 100}
    for id <- ["a", "b"], do: assert(ETS.put(:bounded, id, entry) == :ok)
    assert ETS.put(:bounded, "c", entry) == {:error, :full}
    assert ETS.take(:bounded, "a", "ada") == {:ok, 1}
    assert ETS.put(:bounded, "c", entry) == {:error, :full}
    :counters.add(time, 1, 100)
    send(pid, :sweep)
    :sys.get_state(pid)
    assert ETS.put(:bounded, "a", entry) == :ok
  end

  test "a store that is gone has nothing" do
    assert ETS.put(:nowhere, "a", StagedStoreCase.entry(1)) == {:error, :unavailable}
    assert ETS.fetch(:nowhere, "a") == {:error, :unavailable}
    assert ETS.take(:nowhere, "a", "ada") == {:error, :unavailable}
  end
end
