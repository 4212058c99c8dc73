defmodule BeamMCP.Catalog.Definition.Prompt do
  @moduledoc false
  # A prompt (`MCP 2026-07-28 server/prompts`).

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Catalog.Definition.{Check, Completion}
  alias BeamMCP.{PromptArgument, PromptSpec}

  def spec?(spec), do: is_struct(spec, PromptSpec)
  def expected, do: "a %BeamMCP.PromptSpec{}"
  def key_place, do: "name"

  def label(%{name: name}) when is_atom(name) and name != nil, do: Atom.to_string(name)
  def label(%{name: name}), do: if(is_binary(name), do: name)

  @spec faults(PromptSpec.t(), Definition.host()) :: Check.faults()
  def faults(prompt, host) do
    Check.name(plain(prompt.name)) ++
      Check.texts(prompt, [:title, :description]) ++
      arguments_faults(prompt.arguments) ++
      Check.maps(prompt, [:_meta]) ++
      Check.icons(prompt.icons) ++
      Check.argument_keys(prompt.argument_keys) ++
      Check.handler(prompt.handler, :prompt, host) ++
      Check.resume(prompt.resume) ++
      Check.access(prompt)
  end

  @spec definitions(PromptSpec.t(), Definition.host()) :: [Definition.t()]
  def definitions(prompt, host) do
    ref = {:prompt, to_string(prompt.name)}

    parts =
      for %{completions: done, name: name} <- prompt.arguments, done != nil do
        Completion.part(ref, to_string(name), done)
      end

    definition = %Definition{
      kind: :prompt,
      key: to_string(prompt.name),
      name: prompt.name,
      handler: Check.sound_handler(prompt.handler),
      native: native(prompt, host.keys),
      parts: Enum.map(parts, &Definition.id/1)
    }

    [definition | parts]
  end

  defp native(prompt, keys) do
    Map.merge(Check.sound_access(prompt), %{
      name: to_string(prompt.name),
      title: prompt.title,
      description: prompt.description,
      arguments: Enum.map(prompt.arguments, &argument/1),
      icons: Check.given_icons(prompt.icons),
      meta: prompt._meta,
      argument_keys: argument_keys(keys, prompt),
      park: prompt.resume == :park
    })
  end

  defp argument(argument) do
    %{
      name: to_string(argument.name),
      title: argument.title,
      description: argument.description,
      required: argument.required
    }
  end

  defp argument_keys(:atoms, %{argument_keys: :atoms, arguments: arguments}) do
    Map.new(arguments, &{to_string(&1.name), String.to_atom(to_string(&1.name))})
  end

  defp argument_keys(_host, _prompt), do: %{}

  defp arguments_faults(arguments) when is_list(arguments) do
    faults =
      for {argument, index} <- Enum.with_index(arguments),
          {place, text} <- argument_faults(argument),
          do: {"arguments[#{index}]#{place}", text}

    faults ++ if(faults == [], do: doubled(arguments), else: [])
  end

  defp arguments_faults(_other),
    do: [{"arguments", "must be a list of %BeamMCP.PromptArgument{}"}]

  defp argument_faults(%PromptArgument{} = argument) do
    Check.name(plain(argument.name), ".name") ++
      for(
        {place, text} <- Check.texts(argument, [:title, :description]),
        do: {"." <> place, text}
      ) ++
      if(is_boolean(argument.required), do: [], else: [{".required", "must be a boolean"}]) ++
      completion_faults(argument.completions)
  end

  defp argument_faults(_other), do: [{"", "must be a %BeamMCP.PromptArgument{}"}]

  defp completion_faults(nil), do: []
  defp completion_faults(done), do: Check.completions(done, ".completions")

  defp doubled(arguments) do
    names = Enum.map(arguments, &to_string(&1.name))
    for name <- Enum.uniq(names -- Enum.uniq(names)), do: {"arguments", "#{name} is given twice"}
  end

  defp plain(name) when is_atom(name) and name != nil, do: Atom.to_string(name)
  defp plain(name), do: name
end
