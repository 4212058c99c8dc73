defmodule BeamMCP.Catalog.Definition.Resource do
  @moduledoc false
  # A resource (`MCP 2026-07-28 server/resources`).

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Catalog.Definition.Check
  alias BeamMCP.ResourceSpec

  def spec?(spec), do: is_struct(spec, ResourceSpec)

  def expected,
    do: "a %BeamMCP.ResourceSpec{}; templates are listed under the key templates"

  def key_place, do: "uri"
  def label(%{uri: uri}), do: if(is_binary(uri), do: uri)

  @spec faults(ResourceSpec.t(), Definition.host()) :: Check.faults()
  def faults(resource, host) do
    Check.uri(resource.uri) ++
      Check.name(resource.name) ++
      Check.texts(resource, [:title, :description, :mime_type]) ++
      size_faults(resource.size) ++
      Check.annotations(resource.annotations) ++
      Check.maps(resource, [:_meta]) ++
      Check.icons(resource.icons) ++
      Check.cache(resource, host) ++
      Check.handler(resource.handler, :resource, host) ++
      Check.resume(resource.resume) ++
      Check.access(resource)
  end

  @spec definitions(ResourceSpec.t(), Definition.host()) :: [Definition.t()]
  def definitions(resource, _host) do
    [
      %Definition{
        kind: :resource,
        key: resource.uri,
        name: resource.uri,
        handler: Check.sound_handler(resource.handler),
        native:
          Map.merge(Check.sound_access(resource), %{
            uri: resource.uri,
            name: resource.name,
            title: resource.title,
            description: resource.description,
            mime_type: resource.mime_type,
            size: resource.size,
            annotations: Check.sound_annotations(resource.annotations),
            icons: Check.given_icons(resource.icons),
            meta: resource._meta,
            cache_ttl_ms: resource.cache_ttl_ms,
            cache_scope: resource.cache_scope,
            park: resource.resume == :park
          })
      }
    ]
  end

  defp size_faults(nil), do: []
  defp size_faults(size) when is_integer(size) and size >= 0, do: []
  defp size_faults(_other), do: [{"size", "must be a number of bytes"}]
end
