defmodule BeamMCP.Catalog.Definition.Template do
  @moduledoc false
  # A resource template (`MCP 2026-07-28 server/resources`, RFC 6570). The native library reads the
  # template itself.

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Catalog.Definition.{Check, Completion}
  alias BeamMCP.ResourceTemplateSpec

  def spec?(spec), do: is_struct(spec, ResourceTemplateSpec)
  def expected, do: "a %BeamMCP.ResourceTemplateSpec{}"
  def key_place, do: "uri_template"
  def label(%{uri_template: template}), do: if(is_binary(template), do: template)

  @spec faults(ResourceTemplateSpec.t(), Definition.host()) :: Check.faults()
  def faults(template, host) do
    template_faults(template.uri_template) ++
      Check.name(template.name) ++
      Check.texts(template, [:title, :description, :mime_type]) ++
      Check.annotations(template.annotations) ++
      Check.maps(template, [:_meta]) ++
      Check.icons(template.icons) ++
      Check.cache(template, host) ++
      Check.handler(template.handler, :template, host) ++
      Check.resume(template.resume) ++
      Check.access(template) ++
      completion_faults(template)
  end

  @spec definitions(ResourceTemplateSpec.t(), Definition.host()) :: [Definition.t()]
  def definitions(template, _host) do
    ref = {:template, template.uri_template}
    parts = for {variable, done} <- template.completions, do: part(ref, variable, done)

    definition = %Definition{
      kind: :template,
      key: template.uri_template,
      name: template.uri_template,
      handler: Check.sound_handler(template.handler),
      native: native(template),
      parts: Enum.map(parts, &Definition.id/1)
    }

    [definition | parts]
  end

  defp native(template) do
    Map.merge(Check.sound_access(template), %{
      uri_template: template.uri_template,
      name: template.name,
      title: template.title,
      description: template.description,
      mime_type: template.mime_type,
      annotations: Check.sound_annotations(template.annotations),
      icons: Check.given_icons(template.icons),
      meta: template._meta,
      cache_ttl_ms: template.cache_ttl_ms,
      cache_scope: template.cache_scope,
      park: template.resume == :park
    })
  end

  defp part(ref, variable, done), do: Completion.part(ref, to_string(variable), done)

  defp template_faults(text) do
    if Check.utf8?(text), do: [], else: [{"uri_template", "must be a UTF-8 string"}]
  end

  defp completion_faults(%{completions: completions, uri_template: template})
       when is_map(completions) do
    known = variables(template)

    Enum.flat_map(completions, fn {variable, done} ->
      if (is_atom(variable) or is_binary(variable)) and to_string(variable) in known,
        do: Check.completions(done, "completions.#{variable}"),
        else: [{"completions", "has a key that is no variable of the template"}]
    end)
  end

  defp completion_faults(_other), do: [{"completions", "must be a map of variables"}]

  # Every name between braces; what else is wrong in a template is the native library's to say.
  defp variables(template) when is_binary(template) do
    for [_all, expression] <- Regex.scan(~r/\{[+#.\/;?&]?([^{}]*)\}/, template),
        name <- String.split(expression, ","),
        do: name
  end

  defp variables(_refused), do: []
end
