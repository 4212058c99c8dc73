defmodule BeamMCP.PromptSpec do
  @moduledoc """
  The definition of a prompt: messages that a person picks, filled in with arguments.

    * `name` - required, atom or string, 1 to 128 characters;
      `c:BeamMCP.Catalog.get_prompt/3` gets it back as it is here
    * `title`, `description` - strings
    * `arguments` - a list of `BeamMCP.PromptArgument`
    * `icons` - a list of maps with `src`, `mimeType`, `sizes`, `theme`
    * `_meta` - a map, served as it is
    * `handler` - answers this prompt in place of `c:BeamMCP.Catalog.get_prompt/3`: a function of
      `%{name: name, arguments: arguments}`, or of that and the `BeamMCP.Context`, or
      `{module, function}` or `{module, function, extra_arguments}`
    * `resume` - what becomes of a handler that asks a 2026 client (`BeamMCP.Context`): `:replay` (the
      default) runs it again with the answers, `:park` has its process wait for them
    * `required_scopes`, `alternative_scope_sets`, `denial` - as in `BeamMCP.ToolSpec`
    * `argument_keys` - `:atoms` (the default) gives declared arguments atom keys; `:strings`
      leaves every key a string

  MCP 2026-07-28 server/prompts.
  """

  alias BeamMCP.{Handler, PromptArgument}

  @enforce_keys [:name]
  defstruct [
    :name,
    :title,
    :description,
    :_meta,
    :handler,
    :denial,
    arguments: [],
    resume: :replay,
    required_scopes: [],
    alternative_scope_sets: [],
    icons: [],
    argument_keys: :atoms
  ]

  @typedoc "The definition of one prompt."
  @type t :: %__MODULE__{
          name: atom() | String.t(),
          title: String.t() | nil,
          description: String.t() | nil,
          arguments: [PromptArgument.t()],
          _meta: map() | nil,
          icons: [map()],
          handler: Handler.declared() | nil,
          resume: :replay | :park,
          required_scopes: [String.t()],
          alternative_scope_sets: [[String.t()]],
          denial: :neutral | :challenge | nil,
          argument_keys: :atoms | :strings
        }
end
