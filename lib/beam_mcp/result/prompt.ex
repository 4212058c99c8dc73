defmodule BeamMCP.Result.Prompt do
  @moduledoc "What a prompt returns, see `BeamMCP.Result.prompt/2`."

  defstruct messages: [], description: nil, meta: nil

  @typedoc "Messages, and what they are for."
  @type t :: %__MODULE__{
          messages: [map()],
          description: String.t() | nil,
          meta: map() | nil
        }
end
