defmodule BeamMCP.Test.Mnesia do
  @moduledoc "The Mnesia that a host runs, for tests."

  @doc "Starts it in memory. Mix may have left it out of the code path, since it is no application of ours."
  @spec start() :: :ok
  def start do
    if function_exported?(Mix, :ensure_application!, 1),
      do: apply(Mix, :ensure_application!, [:mnesia])

    {:ok, _started} = Application.ensure_all_started(:mnesia)
    :ok
  end
end
