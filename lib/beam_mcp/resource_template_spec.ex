defmodule BeamMCP.ResourceTemplateSpec do
  @moduledoc """
  The definition of a family of resources, whose URIs follow a template.

    * `uri_template` - required, a URI template (RFC 6570) that can be matched backwards, for
      example `"file:///logs/{day}"` or `"search://notes{?q,limit}"`
    * `name` - required, a string
    * `title`, `description`, `mime_type`, `annotations`, `icons`, `_meta`, `cache_ttl_ms`,
      `cache_scope` - as in `BeamMCP.ResourceSpec`
    * `required_scopes`, `alternative_scope_sets`, `denial` - as in `BeamMCP.ToolSpec`
    * `handler` - reads a resource of this family: a function of `%{uri: uri, params: params}`,
      where `params` maps each variable that the URI has to its percent-decoded text, or of that
      and the `BeamMCP.Context`, or `{module, function}` or `{module, function, extra_arguments}`
    * `completions` - a map from a variable to what completes it: a list of strings, or a function
      as `handler` of `BeamMCP.PromptArgument` is

  A URI that is a resource's own is read there; else the first template in order that matches it
  is taken. Values never hold a way out of their place: what decodes to a `/` where the template
  allows none, or to a `..` segment, does not match.
    * `resume` - what becomes of a handler that asks a 2026 client (`BeamMCP.Context`): `:replay` (the
      default) runs it again with the answers, `:park` has its process wait for them

  MCP 2026-07-28 server/resources.
  """

  alias BeamMCP.{Annotations, Handler}

  @enforce_keys [:uri_template, :name]
  defstruct [
    :uri_template,
    :name,
    :title,
    :description,
    :mime_type,
    :annotations,
    :_meta,
    :handler,
    :cache_ttl_ms,
    :cache_scope,
    :denial,
    resume: :replay,
    required_scopes: [],
    alternative_scope_sets: [],
    icons: [],
    completions: %{}
  ]

  @typedoc "The definition of one resource template."
  @type t :: %__MODULE__{
          uri_template: String.t(),
          name: String.t(),
          title: String.t() | nil,
          description: String.t() | nil,
          mime_type: String.t() | nil,
          annotations: Annotations.declared() | nil,
          _meta: map() | nil,
          icons: [map()],
          handler: Handler.declared() | nil,
          resume: :replay | :park,
          required_scopes: [String.t()],
          alternative_scope_sets: [[String.t()]],
          denial: :neutral | :challenge | nil,
          completions: %{
            optional(atom() | String.t()) => [String.t()] | Handler.declared()
          },
          cache_ttl_ms: non_neg_integer() | nil,
          cache_scope: :private | :public | nil
        }
end
