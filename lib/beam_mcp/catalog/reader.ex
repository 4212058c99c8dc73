defmodule BeamMCP.Catalog.Reader do
  @moduledoc false
  # Reads what a host offers: the answer of `capabilities`, or a list of registrations. Everything
  # wrong is told at once.

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Error

  @type read :: {[Definition.t()], [Error.fault()]}

  @kinds [:tool, :resource, :template, :prompt, :completion]

  @doc "The definitions without fault, in order, and everything wrong with the others."
  @spec capabilities(term(), Definition.host()) :: read()
  def capabilities(capabilities, host) when is_map(capabilities) do
    case list_faults(capabilities) ++ key_faults(capabilities) do
      [] -> capabilities |> specs() |> read(host) |> owned_by_catalog()
      faults -> {[], faults}
    end
  end

  def capabilities(_other, _host) do
    message = "must be a map with the keys tools, resources and prompts"
    {[], [fault("capabilities", "value", message)]}
  end

  @doc "The same for `{kind, spec, handler}` and `{kind, spec}`."
  @spec registrations(term(), Definition.host()) :: read()
  def registrations(list, host) when is_list(list) do
    list |> Enum.with_index(&registration/2) |> read(host)
  end

  def registrations(_other, _host) do
    {[], [fault("registrations", "value", "must be a list")]}
  end

  defp list_faults(capabilities) do
    for {key, _kind, need} <- Definition.lists(),
        not is_list(Map.get(capabilities, key, absent(need))) do
      text = if need == :required, do: "is required and must be a list", else: "must be a list"
      fault("capabilities", Atom.to_string(key), text)
    end
  end

  # A misspelt key would hide what stands under it.
  defp key_faults(capabilities) do
    known = for {key, _kind, _need} <- Definition.lists(), do: key

    for key <- Map.keys(capabilities), key not in known do
      fault("capabilities", name(key), "is no key of it; those are #{Enum.join(known, ", ")}")
    end
  end

  defp name(key) when is_atom(key), do: Atom.to_string(key)
  defp name(key), do: inspect(key)

  defp absent(:required), do: :absent
  defp absent(:optional), do: []

  defp specs(capabilities) do
    for {key, kind, _need} <- Definition.lists(),
        {spec, index} <- capabilities |> Map.get(key, []) |> Enum.with_index() do
      {kind, spec, "#{key}[#{index}]"}
    end
  end

  defp registration({kind, spec}, index) when kind in @kinds,
    do: {kind, spec, "registrations[#{index}]"}

  defp registration({:completion, ref, handler}, index),
    do: {:completion, {ref, handler}, "registrations[#{index}]"}

  defp registration({kind, %_struct{} = spec, handler}, index)
       when kind in @kinds and is_map_key(spec, :handler),
       do: {kind, %{spec | handler: handler}, "registrations[#{index}]"}

  defp registration({kind, other, _handler}, index) when kind in @kinds,
    do: {kind, other, "registrations[#{index}]"}

  defp registration(_other, index), do: {:unknown, nil, "registrations[#{index}]"}

  defp read(specs, host) do
    {definitions, faults} =
      Enum.reduce(specs, {[], []}, fn spec, {definitions, faults} ->
        case read_one(spec, host) do
          {:ok, read} -> {[read | definitions], faults}
          {:error, wrong} -> {definitions, [wrong | faults]}
        end
      end)

    {unique, doubled} =
      definitions |> Enum.reverse() |> Enum.concat() |> Definition.without_duplicates()

    {unique, Enum.concat(Enum.reverse(faults)) ++ doubled}
  end

  defp read_one({:unknown, _spec, place}, _host) do
    kinds = Enum.map_join(@kinds, ", ", &inspect/1)
    {:error, [fault(place, "value", "must be {kind, spec, handler} with a kind out of #{kinds}")]}
  end

  defp read_one({kind, spec, place}, host), do: Definition.read(kind, spec, place, host)

  defp owned_by_catalog({definitions, faults}) do
    {for(definition <- definitions, do: %{definition | owner: :catalog}), faults}
  end

  defp fault(definition, place, message) do
    %{kind: :catalog, definition: definition, place: place, message: message}
  end
end
