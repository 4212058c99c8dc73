defmodule BeamMCP.Test.Distribution do
  @moduledoc false
  # This runtime as a node that others connect to.

  import BeamMCP.Test.Until

  @doc "Makes it one, once; the port mapper that nodes are found by answers a moment after its start."
  @spec start() :: :ok
  def start do
    System.cmd("epmd", ["-daemon"])
    wait_until(fn -> match?({:ok, _names}, :net_adm.names(:"127.0.0.1")) end)
    _started_or_running = Node.start(:"beam_mcp_test_#{System.pid()}@127.0.0.1", :longnames)
    true = Node.alive?()
    :ok
  end
end
