defmodule BeamMCP.Catalog.Definition.Completion do
  @moduledoc false
  # What completes one argument of a prompt or one variable of a template
  # (`MCP 2026-07-28 server/utilities/completion`). Declared as a part of those, or registered
  # under a reference, which is written as handlers get it: on the wire it is `ref/prompt` or
  # `ref/resource`.

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Catalog.Definition.Check

  @type ref ::
          {:prompt | :resource, String.t() | atom()}
          | {:prompt | :resource, String.t() | atom(), String.t() | atom()}

  def spec?({ref, _handler}) do
    case ref do
      {kind, _name} -> kind in [:prompt, :resource]
      {kind, _name, _argument} -> kind in [:prompt, :resource]
      _other -> false
    end
  end

  def spec?(_other), do: false

  def expected,
    do:
      "{:prompt, name} or {:resource, uri_template}, for one argument with its name as third element"

  def key_place, do: "ref"

  def label({ref, _handler}) do
    if ref |> Tuple.to_list() |> Enum.all?(&name?/1), do: ref |> key() |> Definition.label()
  end

  @spec faults({ref(), term()}, Definition.host()) :: Check.faults()
  def faults({ref, handler}, _host) do
    names = ref |> Tuple.to_list() |> tl()

    refs =
      if Enum.all?(names, &name?/1),
        do: [],
        else: [{"ref", "must have names that are atoms or strings"}]

    refs ++ Check.completions(handler, "handler")
  end

  @spec definitions({ref(), term()}, Definition.host()) :: [Definition.t()]
  def definitions({ref, handler}, _host), do: [new(key(ref), handler, :registry)]

  @doc "The completion that a prompt or a template brings along."
  @spec part({:prompt | :template, String.t()}, String.t(), term()) :: Definition.t()
  def part(ref, argument, handler), do: new({ref, argument}, handler, ref)

  @doc "The key of a completion, from what a host writes."
  @spec key(ref()) :: Definition.key()
  def key({kind, name}), do: {{owner(kind), to_string(name)}, nil}
  def key({kind, name, argument}), do: {{owner(kind), to_string(name)}, to_string(argument)}

  @doc "The handler of a fixed list: those that begin with the value, whatever their case."
  @spec beginning(%{value: String.t()}, [String.t()]) :: {:ok, [String.t()]}
  def beginning(%{value: value}, values) do
    prefix = String.downcase(value)
    {:ok, Enum.filter(values, &String.starts_with?(String.downcase(&1), prefix))}
  end

  defp new({ref, argument} = key, handler, owner) do
    %Definition{
      kind: :completion,
      key: key,
      name: key,
      handler: run(handler),
      native: %{ref: ref, argument: argument},
      owner: owner
    }
  end

  defp run(values) when is_list(values), do: {:mfa, __MODULE__, :beginning, [values], 1}
  defp run(handler), do: Check.sound_handler(handler)

  defp owner(:resource), do: :template
  defp owner(:prompt), do: :prompt

  defp name?(name), do: (is_atom(name) and name != nil) or Check.utf8?(name)
end
