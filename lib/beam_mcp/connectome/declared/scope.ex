defmodule BeamMCP.Connectome.Declared.Scope do
  @moduledoc false
  # The modules that a declared graph is about, and what stands for a module or function in it at
  # the level that was asked for.

  alias BeamMCP.Connectome.Node

  @enforce_keys [:server, :level, :modules, :groups, :sources]
  defstruct @enforce_keys

  @type group :: {:application | :boundary_module, atom()}

  @type t :: %__MODULE__{
          server: String.t(),
          level: :module | :mfa | :boundary,
          modules: MapSet.t(module()),
          groups: %{module() => group()},
          sources: [atom()]
        }

  @spec new(map()) :: {:ok, t()} | {:error, {:unknown_app, atom()}}
  def new(options) do
    with {:ok, modules, sources} <- modules(options) do
      {groups, more} = groups(options, modules)

      {:ok,
       %__MODULE__{
         server: options.server,
         level: options.level,
         modules: MapSet.new(modules),
         groups: groups,
         sources: sources ++ more
       }}
    end
  end

  @doc "What stands for a function; `nil` when its module is outside the scope or in no group."
  @spec identity(t(), mfa()) :: Node.identity() | nil
  def identity(%{level: :mfa} = scope, {module, _function, _arity} = mfa),
    do: if(module in scope.modules, do: {:module, scope.server, mfa})

  def identity(scope, {module, _function, _arity}), do: module_identity(scope, module)

  @doc "The same for a module; at level `:mfa` nothing stands for a whole module."
  @spec module_identity(t(), module()) :: Node.identity() | nil
  def module_identity(%{level: :module} = scope, module),
    do: if(module in scope.modules, do: {:module, scope.server, module})

  def module_identity(%{level: :boundary} = scope, module) do
    with {source, name} <- Map.get(scope.groups, module),
         do: {:boundary, scope.server, source, name}
  end

  def module_identity(%{level: :mfa}, _module), do: nil

  @doc "Modules of the scope that are in no group, where groups are drawn."
  @spec ungrouped(t()) :: [module()]
  def ungrouped(%{level: :boundary} = scope),
    do: Enum.reject(scope.modules, &is_map_key(scope.groups, &1))

  def ungrouped(_scope), do: []

  # An application says itself what its modules are; a directory may hold others.
  defp modules(%{apps: apps}) when apps != nil do
    Enum.reduce_while(apps, {:ok, [], [:application]}, fn app, {:ok, modules, sources} ->
      case Application.load(app) do
        fine when fine == :ok or elem(fine, 1) == {:already_loaded, app} ->
          {:cont, {:ok, Application.spec(app, :modules) ++ modules, sources}}

        _unknown ->
          {:halt, {:error, {:unknown_app, app}}}
      end
    end)
  end

  defp modules(%{modules: modules}), do: {:ok, modules, []}

  defp groups(%{level: :boundary, boundaries: nil}, modules) do
    groups =
      for module <- modules, app = Application.get_application(module), into: %{} do
        {module, {:application, app}}
      end

    {groups, [:application]}
  end

  defp groups(%{level: :boundary, boundaries: boundaries}, modules),
    do: {Map.take(boundaries, modules), [:boundary_map]}

  defp groups(_options, _modules), do: {%{}, []}
end
