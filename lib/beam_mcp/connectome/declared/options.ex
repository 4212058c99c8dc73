defmodule BeamMCP.Connectome.Declared.Options do
  @moduledoc false
  # The options of a declared build as a map with every key, or the first refusal.

  alias BeamMCP.Connectome.Fields
  alias BeamMCP.Options.Check

  @defaults [
    modules: nil,
    apps: nil,
    catalog: nil,
    dispatch: nil,
    level: :module,
    boundaries: nil,
    tool_modules: %{},
    dynamic_allowlist: [],
    read_edges: false,
    supervisors: []
  ]
  @levels [:module, :mfa, :boundary]
  @group_sources [:application, :boundary_module]

  @spec check(term()) :: {:ok, map()} | {:error, term()}
  def check(options) do
    with :ok <- Fields.check(options, [:server], Keyword.keys(@defaults)),
         options = @defaults |> Keyword.merge(options) |> Map.new(),
         :ok <- scope(options),
         :ok <- each(Enum.sort_by(options, &elem(&1, 0))) do
      {:ok,
       %{
         options
         | tool_modules:
             Map.new(options.tool_modules, fn {tool, module} -> {to_string(tool), module} end),
           supervisors: Enum.map(options.supervisors, &supervisor/1),
           modules: options.modules && Enum.uniq(options.modules)
       }}
    end
  end

  defp scope(%{modules: nil, apps: nil}), do: {:error, {:missing, :scope}}

  defp scope(%{modules: modules, apps: apps}) when modules != nil and apps != nil,
    do: {:error, {:invalid, :scope, [:modules, :apps]}}

  defp scope(_one), do: :ok

  defp each(options) do
    Enum.find_value(options, :ok, fn {key, value} ->
      case legal(key, value) do
        true -> nil
        false -> {:error, {:invalid, key, value}}
        refusal -> refusal
      end
    end)
  end

  defp legal(_key, :reflect = boundaries), do: {:error, {:unsupported, :boundaries, boundaries}}
  defp legal(:server, server), do: is_binary(server) and String.valid?(server)
  defp legal(key, nil) when key in [:modules, :apps, :catalog, :dispatch, :boundaries], do: true
  defp legal(key, atoms) when key in [:modules, :apps], do: all?(atoms, &is_atom/1)
  defp legal(:catalog, catalog), do: is_atom(catalog)
  defp legal(:dispatch, dispatch), do: Check.dispatch(dispatch) != :error
  defp legal(:level, level), do: level in @levels
  defp legal(:read_edges, flag), do: is_boolean(flag)
  defp legal(:boundaries, map), do: plain_map?(map) and Enum.all?(map, &boundary?/1)
  defp legal(:tool_modules, map), do: plain_map?(map) and Enum.all?(map, &tool_module?/1)
  defp legal(:dynamic_allowlist, functions), do: all?(functions, &function?/1)
  defp legal(:supervisors, supervisors), do: all?(supervisors, &is_atom(elem(supervisor(&1), 0)))

  defp boundary?({module, {source, name}}),
    do: is_atom(module) and source in @group_sources and is_atom(name)

  defp boundary?(_other), do: false

  defp tool_module?({tool, module}), do: (is_atom(tool) or is_binary(tool)) and is_atom(module)

  defp function?({module, function, arity}),
    do: is_atom(module) and is_atom(function) and is_integer(arity)

  defp function?(_other), do: false

  defp supervisor({module, argument}), do: {module, argument}
  defp supervisor(module), do: {module, []}

  defp plain_map?(map), do: is_map(map) and not is_struct(map)

  defp all?(list, legal?),
    do: is_list(list) and not List.improper?(list) and Enum.all?(list, legal?)
end
