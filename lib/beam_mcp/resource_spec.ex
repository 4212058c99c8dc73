defmodule BeamMCP.ResourceSpec do
  @moduledoc """
  The definition of a resource: something that a client may read under one URI.

    * `uri` - required, an absolute URI (RFC 3986) of at most 4,096 bytes; compared byte by byte
    * `name` - required, a string
    * `title`, `description` - strings
    * `mime_type` - a string; contents without one of their own are served with it
    * `size` - in bytes, when it is known
    * `annotations` - a keyword list or map: `audience` (a list of `:user`, `:assistant`),
      `priority` (0 to 1), `last_modified` (ISO 8601 text or a `DateTime`)
    * `icons` - a list of maps with `src`, `mimeType`, `sizes`, `theme`
    * `_meta` - a map, served as it is
    * `handler` - reads this resource in place of `c:BeamMCP.Catalog.read_resource/2`: a function
      of `%{uri: uri, params: %{}}`, or of that and the `BeamMCP.Context`, or
      `{module, function}` or `{module, function, extra_arguments}`
    * `resume` - what becomes of a handler that asks a 2026 client (`BeamMCP.Context`): `:replay` (the
      default) runs it again with the answers, `:park` has its process wait for them
    * `required_scopes`, `alternative_scope_sets`, `denial` - as in `BeamMCP.ToolSpec`
    * `cache_ttl_ms`, `cache_scope` - how long and for whom (`:private`, `:public`) what is read
      may be kept, in place of the instance's options of that name

  MCP 2026-07-28 server/resources.
  """

  alias BeamMCP.{Annotations, Handler}

  @enforce_keys [:uri, :name]
  defstruct [
    :uri,
    :name,
    :title,
    :description,
    :mime_type,
    :size,
    :annotations,
    :_meta,
    :handler,
    :cache_ttl_ms,
    :cache_scope,
    :denial,
    resume: :replay,
    required_scopes: [],
    alternative_scope_sets: [],
    icons: []
  ]

  @typedoc "The definition of one resource."
  @type t :: %__MODULE__{
          uri: String.t(),
          name: String.t(),
          title: String.t() | nil,
          description: String.t() | nil,
          mime_type: String.t() | nil,
          size: non_neg_integer() | nil,
          annotations: Annotations.declared() | nil,
          _meta: map() | nil,
          icons: [map()],
          handler: Handler.declared() | nil,
          resume: :replay | :park,
          required_scopes: [String.t()],
          alternative_scope_sets: [[String.t()]],
          denial: :neutral | :challenge | nil,
          cache_ttl_ms: non_neg_integer() | nil,
          cache_scope: :private | :public | nil
        }
end
