defmodule BeamMCP.Dispatch.Watchdog do
  @moduledoc false
  # Bounds what the host runs around a handler, in the process where it has to run.

  alias BeamMCP.Fault

  @doc "Runs `fun` here; kills this process when it takes longer than `limit_ms`."
  @spec within(pos_integer(), String.t(), (() -> result)) :: result when result: term()
  def within(limit_ms, what, fun) do
    guarded = self()
    watchdog = spawn(fn -> watch(guarded, limit_ms, what) end)

    try do
      fun.()
    after
      send(watchdog, :done)
    end
  end

  defp watch(guarded, limit_ms, what) do
    monitor = Process.monitor(guarded)

    receive do
      :done -> :ok
      {:DOWN, ^monitor, :process, ^guarded, _reason} -> :ok
    after
      limit_ms ->
        Fault.log_text("#{what} took longer than #{limit_ms} ms")
        Process.exit(guarded, :kill)
    end
  end
end
