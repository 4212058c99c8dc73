defmodule BeamMCP.PromptArgument do
  @moduledoc """
  One argument of a `BeamMCP.PromptSpec`. Its value is a string.

    * `name` - required, atom or string
    * `title`, `description` - strings
    * `required` - whether a request without it is refused
    * `completions` - what completes it while a person types: a list of strings, of which those
      that begin with the value are offered, or a function of
      `%{ref: ref, argument: name, value: value, context: %{arguments: resolved}}`, or of that and
      the `BeamMCP.Context`, or `{module, function}` or `{module, function, extra_arguments}`

  MCP 2026-07-28 server/prompts and server/utilities/completion.
  """

  alias BeamMCP.Handler

  @enforce_keys [:name]
  defstruct [:name, :title, :description, :completions, required: false]

  @typedoc "One argument of a prompt."
  @type t :: %__MODULE__{
          name: atom() | String.t(),
          title: String.t() | nil,
          description: String.t() | nil,
          required: boolean(),
          completions: [String.t()] | Handler.declared() | nil
        }
end
