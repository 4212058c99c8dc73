defmodule BeamMCP.Test.Until do
  @moduledoc false
  # For what comes true a moment later: a process ends, another node hears of something.

  import ExUnit.Assertions

  @pause_ms 10
  @tries 2_000

  @doc "Waits until `condition` holds, for 20 s at most."
  @spec wait_until((() -> as_boolean(term())), non_neg_integer()) :: :ok
  def wait_until(condition, tries \\ @tries)
  def wait_until(_condition, 0), do: flunk("it never came true")

  def wait_until(condition, tries) do
    if condition.() do
      :ok
    else
      Process.sleep(@pause_ms)
      wait_until(condition, tries - 1)
    end
  end
end
