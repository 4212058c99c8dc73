defmodule BeamMCP.Schema do
  @moduledoc """
  Help with JSON Schemas for handlers.

  `default` is an annotation: validation does not insert it, and neither does dispatch. A handler
  that wants the defaults of its own schema asks for them.
  """

  alias BeamMCP.{Error, ToolSpec}

  @max_defaults 500
  @max_depth 64

  @doc """
  Adds the defaults of properties that `arguments` does not have.

  Present values stay, `nil` included. Only `properties` are followed, also into objects that are
  present or that a default supplies; references, combinators, conditionals, items and patterns
  are not. Keys of the top level are atoms or strings as the arguments are; pass the
  `BeamMCP.ToolSpec` itself for a tool whose `argument_keys` are `:strings`, so that an empty map
  gets strings too. Keys of nested objects are strings.

      iex> schema = %{"properties" => %{"format" => %{"default" => "summary"}, "id" => %{}}}
      iex> BeamMCP.Schema.apply_property_defaults(%{id: 7}, schema)
      {:ok, %{id: 7, format: "summary"}}

  Returns `{:error, error}` with kind `:schema` when more than #{@max_defaults} defaults or
  #{@max_depth} levels would be needed. The completed arguments are not validated again.
  """
  @spec apply_property_defaults(map(), map() | ToolSpec.t()) ::
          {:ok, map()} | {:error, Error.t()}
  def apply_property_defaults(arguments, %ToolSpec{} = tool) do
    complete(arguments, tool.input_schema || %{}, tool.argument_keys)
  end

  def apply_property_defaults(arguments, schema) when is_map(arguments) and is_map(schema) do
    complete(arguments, schema, keys(arguments, properties(schema)))
  end

  defp complete(arguments, schema, keys) do
    {completed, _left} = fill(arguments, schema, keys, @max_depth, @max_defaults)
    {:ok, completed}
  catch
    {:over, what} -> {:error, Error.schema("the schema needs more than #{what}")}
  end

  # `left` is how many defaults may still be added.
  defp fill(_object, _schema, _keys, 0, _left), do: throw({:over, "#{@max_depth} levels"})

  defp fill(object, schema, keys, depth, left) do
    Enum.reduce(properties(schema), {object, left}, fn {name, property}, {object, left} ->
      key = key(keys, name)

      case {object, property} do
        {%{^key => value}, _property} -> inner(object, key, value, property, depth, left)
        {_absent, %{"default" => value}} -> add(object, key, value, property, depth, left)
        {_absent, %{default: value}} -> add(object, key, value, property, depth, left)
        _no_default -> {object, left}
      end
    end)
  end

  defp add(_object, _key, _value, _property, _depth, 0),
    do: throw({:over, "#{@max_defaults} defaults"})

  defp add(object, key, value, property, depth, left) do
    object |> Map.put(key, value) |> inner(key, value, property, depth, left - 1)
  end

  defp inner(object, key, value, property, depth, left)
       when is_map(value) and not is_struct(value) and is_map(property) do
    {value, left} = fill(value, property, :strings, depth - 1, left)
    {Map.put(object, key, value), left}
  end

  defp inner(object, _key, _value, _property, _depth, left), do: {object, left}

  defp properties(%{"properties" => properties}) when is_map(properties), do: named(properties)
  defp properties(%{properties: properties}) when is_map(properties), do: named(properties)
  defp properties(_schema), do: []

  defp named(properties), do: for({name, property} <- properties, do: {to_string(name), property})

  # Declared names became atoms when the tool was registered; no other atom is made here.
  defp key(:strings, name), do: name
  defp key(:atoms, name), do: String.to_atom(name)

  defp keys(arguments, properties) do
    if Enum.any?(properties, fn {name, _property} -> is_map_key(arguments, name) end),
      do: :strings,
      else: :atoms
  end
end
