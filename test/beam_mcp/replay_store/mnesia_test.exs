defmodule BeamMCP.ReplayStore.MnesiaTest do
  use BeamMCP.ReplayStoreCase, async: false, store: BeamMCP.ReplayStore.Mnesia

  alias BeamMCP.ReplayStore.Mnesia

  setup_all do
    BeamMCP.Test.Mnesia.start()
    on_exit(fn -> Application.stop(:mnesia) end)
  end

  test "a node whose clock is ahead forgets nothing too early", context do
    namespace = start(context, sweep_interval_ms: 5)
    assert Mnesia.claim(namespace, "a", 91) == :new
    :counters.put(context.clock, 1, 91_000 + 59_999)
    Process.sleep(50)
    :counters.put(context.clock, 1, 90_999)
    assert Mnesia.claim(namespace, "a", 91) == :seen
  end

  test "a store that is gone accepts nothing" do
    assert Mnesia.claim(:nowhere, "a", 91) == {:error, :unavailable}
  end
end
