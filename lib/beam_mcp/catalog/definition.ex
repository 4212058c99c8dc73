defmodule BeamMCP.Catalog.Definition do
  @moduledoc false
  # Checks what `capabilities` returned and lowers it to what the native library compiles. What
  # needs a schema compiler - dialect, references, budget, header annotations - is checked there.

  alias BeamMCP.{Error, Icon, ToolSpec}

  @type keys :: :atoms | :strings
  @type native :: map()

  @hints ~w(readOnlyHint destructiveHint idempotentHint openWorldHint)

  @doc """
  The definitions without fault, in order, and everything wrong with the others.

  With `:atoms`, names of declared properties become atoms.
  """
  @spec read(term(), keys()) :: {[native()], [Error.fault()]}
  def read(capabilities, keys) do
    case key_faults(capabilities) do
      [] -> read_tools(capabilities.tools, keys)
      faults -> {[], faults}
    end
  end

  defp key_faults(capabilities) when is_map(capabilities) do
    for key <- [:tools, :resources, :prompts], not is_list(Map.get(capabilities, key)) do
      fault("capabilities", Atom.to_string(key), "is required and must be a list")
    end
  end

  defp key_faults(_other) do
    [fault("capabilities", "value", "must be a map with the keys tools, resources and prompts")]
  end

  defp read_tools(tools, keys) do
    checked = for {tool, index} <- Enum.with_index(tools), do: {tool, faults(tool, index)}
    sound = for {tool, []} <- checked, do: native(tool, keys)
    faults = for {_tool, faults} <- checked, fault <- faults, do: fault
    without_duplicates(sound, faults)
  end

  # Both of two definitions with one name are refused: neither is more right than the other.
  defp without_duplicates(sound, faults) do
    counts = Enum.frequencies_by(sound, & &1.name)
    {unique, doubled} = Enum.split_with(sound, &(counts[&1.name] == 1))
    names = doubled |> Enum.map(& &1.name) |> Enum.uniq()
    {unique, faults ++ Enum.map(names, &fault(&1, "name", "is used by #{counts[&1]} tools"))}
  end

  defp faults(%ToolSpec{} = tool, index) do
    name = shown_name(tool.name, index)

    for {place, text} <-
          name_faults(tool.name) ++
            text_faults(tool) ++
            map_faults(tool) ++
            atom_faults(tool) ++
            annotation_faults(tool.annotations) ++
            icon_faults(tool.icons) ++
            argument_faults(tool.input_schema) do
      fault(name, place, text)
    end
  end

  defp faults(_other, index),
    do: [fault("tools[#{index}]", "value", "must be a %BeamMCP.ToolSpec{}")]

  defp shown_name(name, _index) when is_atom(name) and name != nil, do: Atom.to_string(name)
  defp shown_name(name, _index) when is_binary(name), do: name
  defp shown_name(_other, index), do: "tools[#{index}]"

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

  defp text_faults(tool) do
    for key <- [:title, :description], not text?(Map.fetch!(tool, key)) do
      {Atom.to_string(key), "must be a UTF-8 string"}
    end
  end

  defp text?(nil), do: true
  defp text?(text), do: is_binary(text) and String.valid?(text)

  defp map_faults(tool) do
    for key <- [:input_schema, :output_schema, :annotations, :_meta],
        value = Map.fetch!(tool, key),
        not is_map(value) or is_struct(value) do
      {Atom.to_string(key), "must be a map"}
    end
  end

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

  defp icon_faults(nil), do: []

  defp icon_faults(icons),
    do: for({place, text} <- Icon.faults(icons), do: {"icons" <> place, text})

  # Erlang has no atom of more than 255 characters.
  defp argument_faults(schema) do
    for name <- properties(schema), String.length(name) > 255 do
      {"input_schema.properties",
       "a property name has #{String.length(name)} characters, at most 255 are allowed"}
    end
  end

  defp native(tool, keys) do
    %{
      name: to_string(tool.name),
      handler: tool.name,
      title: tool.title,
      description: tool.description,
      input_schema: tool.input_schema,
      output_schema: tool.output_schema,
      annotations: tool.annotations,
      meta: tool._meta,
      icons: if(tool.icons not in [nil, []], do: tool.icons),
      argument_keys: argument_keys(keys, tool.input_schema)
    }
  end

  defp argument_keys(:strings, _schema), do: %{}
  defp argument_keys(:atoms, schema), do: Map.new(properties(schema), &{&1, String.to_atom(&1)})

  defp properties(schema) when is_map(schema) do
    case schema["properties"] || schema[:properties] do
      properties when is_map(properties) ->
        properties |> Map.keys() |> Enum.filter(&name?/1) |> Enum.map(&to_string/1)

      _refused_by_the_compiler ->
        []
    end
  end

  defp properties(_absent_or_refused), do: []

  defp name?(key), do: is_atom(key) or (is_binary(key) and String.valid?(key))

  defp fault(tool, place, message), do: %{tool: tool, place: place, message: message}
end
