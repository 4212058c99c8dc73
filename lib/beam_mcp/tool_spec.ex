defmodule BeamMCP.ToolSpec do
  @moduledoc """
  The definition of a tool.

    * `name` - required, atom or string, 1 to 128 of `A-Z a-z 0-9 _ . -`; the dispatch function
      gets it back as it is here
    * `title`, `description` - strings
    * `input_schema` - a JSON Schema whose root is `type: object`, as a map with string or atom
      keys. A tool without one takes no arguments: its handler gets `%{}` whatever was sent
    * `output_schema` - a JSON Schema that structured content satisfies
    * `annotations` - a map of hints: `title`, `readOnlyHint`, `destructiveHint`,
      `idempotentHint`, `openWorldHint`
    * `icons` - a list of maps with `src`, `mimeType`, `sizes`, `theme`
    * `_meta` - a map, served as it is
    * `handler` - runs this tool in place of the instance's dispatch function: a function of the
      arguments, or of the arguments and the `BeamMCP.Context`, or `{module, function}` or
      `{module, function, extra_arguments}`. It returns what a dispatch function returns
    * `argument_keys` - `:atoms` (the default) gives arguments declared in the schema's
      `properties` atom keys; `:strings` leaves every key a string
    * `resume` - what becomes of a handler that asks a 2026 client (`BeamMCP.Context`): `:replay` (the
      default) runs it again with the answers, `:park` has its process wait for them
    * `timeout_ms` - the deadline of a call of this tool, in place of `call_timeout_ms`
    * `max_concurrency` - calls of this tool that run at a time; a further one is refused as
      busy (-31503)
    * `rate` - `{count, per_ms}`: calls of this tool within that time; a further one is refused
      as busy
    * `task_support` - whether a call may go on as a task, for a handler that returns `{:task, fun}`:
      `:forbidden` (the default), `:optional`, where `fun` runs within the call for clients that take
      no tasks, or `:required`, where those are refused
    * `required_scopes`, `alternative_scope_sets` - scopes that callers need beyond those of the method:
      all of the first list, or all of one of the others, at most seven. Where nobody says what the
      caller was granted they decide nothing
    * `denial` - what a caller without them is told: `:challenge` what it needs, `:neutral` what it would
      be told of a name that does not exist; `nil` (the default) is `:neutral` where `scope_policy` has
      the method, else `:challenge`
    * `command_class`, `mode` - atoms of the host's own, not served

  MCP 2026-07-28 server/tools.
  """

  alias BeamMCP.Handler

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
    :handler,
    :timeout_ms,
    :max_concurrency,
    :rate,
    :denial,
    resume: :replay,
    required_scopes: [],
    alternative_scope_sets: [],
    icons: [],
    argument_keys: :atoms,
    task_support: :forbidden
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
          icons: [map()],
          handler: Handler.declared() | nil,
          resume: :replay | :park,
          required_scopes: [String.t()],
          alternative_scope_sets: [[String.t()]],
          denial: :neutral | :challenge | nil,
          argument_keys: :atoms | :strings,
          task_support: :forbidden | :optional | :required,
          timeout_ms: pos_integer() | nil,
          max_concurrency: pos_integer() | nil,
          rate: {count :: pos_integer(), per_ms :: pos_integer()} | nil
        }
end
