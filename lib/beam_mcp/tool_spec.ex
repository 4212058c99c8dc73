defmodule BeamMCP.ToolSpec do
  @moduledoc """
  The definition of a tool.

    * `name` - required, atom or string, 1 to 128 of `A-Z a-z 0-9 _ . -`; the dispatch function
      gets it back as it is here
    * `title`, `description` - strings
    * `input_schema` - a JSON Schema whose root is `type: object`, as a map with string or atom
      keys. A tool without one takes no arguments: dispatch gets `%{}` whatever was sent
    * `output_schema` - a JSON Schema that structured content satisfies
    * `annotations` - a map of hints: `title`, `readOnlyHint`, `destructiveHint`,
      `idempotentHint`, `openWorldHint`
    * `icons` - a list of maps with `src`, `mimeType`, `sizes`, `theme`
    * `_meta` - a map, served as it is
    * `command_class`, `mode` - atoms of the host's own, not served

  MCP 2026-07-28 server/tools.
  """

  @enforce_keys [:name]
  defstruct [
    :name,
    :title,
    :description,
    :command_class,
    :mode,
    :input_schema,
    :output_schema,
    :annotations,
    :_meta,
    icons: []
  ]

  @typedoc "The definition of one tool."
  @type t :: %__MODULE__{
          name: atom() | String.t(),
          title: String.t() | nil,
          description: String.t() | nil,
          command_class: atom(),
          mode: atom(),
          input_schema: map() | nil,
          output_schema: map() | nil,
          annotations: map() | nil,
          _meta: map() | nil,
          icons: [map()]
        }
end
