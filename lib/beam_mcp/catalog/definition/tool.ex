defmodule BeamMCP.Catalog.Definition.Tool do
  @moduledoc false
  # A tool (`MCP 2026-07-28 server/tools`).

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Catalog.Definition.Check
  alias BeamMCP.ToolSpec

  @hints ~w(readOnlyHint destructiveHint idempotentHint openWorldHint)
  @max_time_ms 86_400_000
  @max_count 1_000_000

  def spec?(spec), do: is_struct(spec, ToolSpec)
  def expected, do: "a %BeamMCP.ToolSpec{}"
  def key_place, do: "name"

  def label(%{name: name}) when is_atom(name) and name != nil, do: Atom.to_string(name)
  def label(%{name: name}) when is_binary(name), do: name
  def label(_nameless), do: nil

  @spec faults(ToolSpec.t(), Definition.host()) :: Check.faults()
  def faults(tool, host) do
    name_faults(tool.name) ++
      Check.texts(tool, [:title, :description]) ++
      Check.maps(tool, [:input_schema, :output_schema, :annotations, :_meta]) ++
      atom_faults(tool) ++
      annotation_faults(tool.annotations) ++
      Check.icons(tool.icons) ++
      property_faults(tool.input_schema) ++
      Check.argument_keys(tool.argument_keys) ++
      task_support_faults(tool.task_support) ++
      Check.handler(tool.handler, :tool, host) ++
      Check.resume(tool.resume) ++
      Check.access(tool) ++
      parked_task_faults(tool) ++
      limit_faults(tool)
  end

  @spec definitions(ToolSpec.t(), Definition.host()) :: [Definition.t()]
  def definitions(tool, host) do
    [
      %Definition{
        kind: :tool,
        key: to_string(tool.name),
        name: tool.name,
        handler: Check.sound_handler(tool.handler),
        native:
          Map.merge(Check.sound_access(tool), %{
            name: to_string(tool.name),
            title: tool.title,
            description: tool.description,
            input_schema: tool.input_schema,
            output_schema: tool.output_schema,
            annotations: tool.annotations,
            meta: tool._meta,
            icons: Check.given_icons(tool.icons),
            argument_keys: argument_keys(host.keys, tool),
            task_support: tool.task_support,
            park: tool.resume == :park,
            timeout_ms: tool.timeout_ms,
            max_concurrency: tool.max_concurrency,
            rate: tool.rate
          })
      }
    ]
  end

  defp parked_task_faults(%{resume: :park, task_support: support})
       when support in [:optional, :required] do
    [
      {"resume",
       "must be :replay where task_support is #{inspect(support)}: a task waits by itself"}
    ]
  end

  defp parked_task_faults(_tool), do: []

  defp name_faults(name) when is_atom(name) and name != nil, do: name_faults(Atom.to_string(name))

  defp name_faults(name) when is_binary(name) do
    cond do
      byte_size(name) not in 1..128 ->
        [{"name", "must have 1 to 128 characters, has #{byte_size(name)}"}]

      name =~ ~r/\A[A-Za-z0-9_.-]+\z/ ->
        []

      true ->
        [{"name", "may hold only A-Z a-z 0-9 _ . and -"}]
    end
  end

  defp name_faults(_other), do: [{"name", "must be an atom or a string"}]

  defp task_support_faults(support) when support in [:forbidden, :optional, :required], do: []

  defp task_support_faults(_other),
    do: [{"task_support", "must be :forbidden, :optional or :required"}]

  defp atom_faults(tool) do
    for key <- [:command_class, :mode], not is_atom(Map.fetch!(tool, key)) do
      {Atom.to_string(key), "must be an atom"}
    end
  end

  defp annotation_faults(annotations) when is_map(annotations) do
    for {key, value} <- annotations, name?(key), text = annotation_fault(to_string(key), value) do
      {"annotations.#{key}", text}
    end
  end

  defp annotation_faults(_absent_or_refused), do: []

  defp annotation_fault("title", value), do: if(not is_binary(value), do: "must be a string")

  defp annotation_fault(key, value) when key in @hints,
    do: if(not is_boolean(value), do: "must be a boolean")

  defp annotation_fault(_extension, _value), do: nil

  # Erlang has no atom of more than 255 characters.
  defp property_faults(schema) do
    for name <- properties(schema), String.length(name) > 255 do
      {"input_schema.properties",
       "a property name has #{String.length(name)} characters, at most 255 are allowed"}
    end
  end

  defp limit_faults(tool) do
    Enum.reject(
      [
        limit_fault("timeout_ms", tool.timeout_ms, @max_time_ms),
        limit_fault("max_concurrency", tool.max_concurrency, @max_count),
        rate_fault(tool.rate)
      ],
      &is_nil/1
    )
  end

  defp limit_fault(_place, nil, _max), do: nil

  defp limit_fault(_place, limit, max) when is_integer(limit) and limit >= 1 and limit <= max,
    do: nil

  defp limit_fault(place, _other, max), do: {place, "must be an integer from 1 to #{max}"}

  defp rate_fault(nil), do: nil

  defp rate_fault({count, per_ms})
       when is_integer(count) and count in 1..@max_count and is_integer(per_ms) and
              per_ms in 1..@max_time_ms,
       do: nil

  defp rate_fault(_other) do
    {"rate", "must be {count, per_ms}, from 1 to #{@max_count} and from 1 to #{@max_time_ms}"}
  end

  defp argument_keys(:atoms, %{argument_keys: :atoms, input_schema: schema}),
    do: Map.new(properties(schema), &{&1, String.to_atom(&1)})

  defp argument_keys(_host, _tool), do: %{}

  defp properties(schema) when is_map(schema) do
    case schema["properties"] || schema[:properties] do
      properties when is_map(properties) ->
        properties |> Map.keys() |> Enum.filter(&name?/1) |> Enum.map(&to_string/1)

      _refused_by_the_compiler ->
        []
    end
  end

  defp properties(_absent_or_refused), do: []

  defp name?(key), do: is_atom(key) or Check.utf8?(key)
end
