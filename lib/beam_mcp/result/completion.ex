defmodule BeamMCP.Result.Completion do
  @moduledoc "What completes an argument, see `BeamMCP.Result.completion/2`."

  defstruct values: [], total: nil, has_more: nil

  @typedoc "Values, how many there are in all, and whether there are more."
  @type t :: %__MODULE__{
          values: [String.t()],
          total: non_neg_integer() | nil,
          has_more: boolean() | nil
        }
end
