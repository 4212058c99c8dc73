defmodule :telemetry do
  @moduledoc "Stands for the library of that name: hands events to a function set by a test."

  def attach(fun), do: :persistent_term.put(__MODULE__, fun)

  @doc "As the library has it, for one event at a time."
  def attach(_id, name, fun, config) do
    attach(fn event, measurements, metadata ->
      if event == name, do: fun.(event, measurements, metadata, config)
    end)
  end

  def detach, do: :persistent_term.erase(__MODULE__)

  def execute(event, measurements, metadata) do
    case :persistent_term.get(__MODULE__, nil) do
      nil -> :ok
      fun -> fun.(event, measurements, metadata)
    end
  end
end
