defmodule :telemetry do
  @moduledoc "Stands for the library of that name: hands events to a function set by a test."

  def attach(fun), do: :persistent_term.put(__MODULE__, fun)
  def detach, do: :persistent_term.erase(__MODULE__)

  def execute(event, measurements, metadata) do
    case :persistent_term.get(__MODULE__, nil) do
      nil -> :ok
      fun -> fun.(event, measurements, metadata)
    end
  end
end
