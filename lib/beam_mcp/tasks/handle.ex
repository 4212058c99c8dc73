defmodule BeamMCP.Tasks.Handle do
  @moduledoc false
  # What the work of a task has of it, in its context.

  alias BeamMCP.{Native, TaskStore}

  @enforce_keys [:id, :keeper, :job, :ended]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          id: TaskStore.id(),
          keeper: pid(),
          job: Native.job(),
          # Whether the task is over, to be read from any process: 0 or 1.
          ended: :atomics.atomics_ref()
        }

  @spec ended?(t()) :: boolean()
  def ended?(handle), do: :atomics.get(handle.ended, 1) == 1

  @spec end!(t()) :: :ok
  def end!(handle), do: :atomics.put(handle.ended, 1, 1)

  defimpl Inspect do
    # The id opens the task to whoever has it.
    def inspect(handle, _opts), do: "#BeamMCP.Task<#{inspect(handle.keeper)}>"
  end
end
