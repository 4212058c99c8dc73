defmodule BeamMCP.Tasks.Begun do
  @moduledoc false
  # A call that goes on as a task: its work, and what the native library knows of it.

  @enforce_keys [:job, :bytes, :run, :context]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          job: BeamMCP.Native.job(),
          # The size of the request, which the work may hold on to.
          bytes: non_neg_integer(),
          run: (BeamMCP.Context.t() -> term()),
          context: BeamMCP.Context.t()
        }
end
