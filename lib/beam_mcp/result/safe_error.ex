defmodule BeamMCP.Result.SafeError do
  @moduledoc "A failure whose text the caller may read, see `BeamMCP.Result.safe_error/2`."

  @enforce_keys [:message]
  defstruct [:message, :data]

  @typedoc "The text, and what the caller is told beside it."
  @type t :: %__MODULE__{message: String.t(), data: term()}
end
