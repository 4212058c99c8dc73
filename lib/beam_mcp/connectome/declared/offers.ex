defmodule BeamMCP.Connectome.Declared.Offers do
  @moduledoc false
  # What a catalog module offers: the nodes and edges of its tools, resources and prompts.

  alias BeamMCP.Catalog.Reader
  alias BeamMCP.Connectome.{Declared.Scope, Edge, Node, Part}
  alias BeamMCP.{Error, Options}

  # A catalog is read as one that could serve everything: what runs its definitions is not asked.
  @host %{serves: [:tool, :resource, :template, :prompt], public_cache?: true, keys: :strings}

  defstruct nodes: [], edges: [], unreadable: [], tools_without_module: []

  @type t :: %__MODULE__{
          nodes: [Node.t()],
          edges: [Edge.t()],
          unreadable: [{:resources, String.t()}],
          tools_without_module: [String.t()]
        }

  @doc "The capabilities of the module, or what is wrong with them."
  @spec read(module() | nil) ::
          {:ok, map() | nil} | {:error, {:invalid, :catalog, :no_capabilities | [Error.fault()]}}
  def read(nil), do: {:ok, nil}

  def read(catalog) do
    with {:ok, _module} <- Options.Check.catalog(catalog),
         capabilities = catalog.capabilities(),
         {_definitions, []} <- Reader.capabilities(capabilities, @host) do
      {:ok, capabilities}
    else
      :error -> {:error, {:invalid, :catalog, :no_capabilities}}
      {_definitions, faults} -> {:error, {:invalid, :catalog, faults}}
    end
  end

  @doc "The part of the graph that they are."
  @spec parts(map() | nil, Scope.t(), map()) :: t()
  def parts(nil, _scope, _options), do: %__MODULE__{}

  def parts(capabilities, scope, options) do
    tools = Enum.map(capabilities.tools, &tool(&1, scope, options))
    templates = Map.get(capabilities, :templates, [])
    drawn = if options.read_edges, do: templates, else: []

    read =
      Enum.map(capabilities.resources ++ drawn, &readable(:resource, uri(&1), scope, options))

    prompts = Enum.map(capabilities.prompts, &readable(:prompt, &1.name, scope, options))
    parts = tools ++ read ++ prompts

    %__MODULE__{
      nodes: Enum.map(parts, & &1.node),
      edges: Enum.flat_map(parts, & &1.edges),
      unreadable: for(template <- templates -- drawn, do: {:resources, uri(template)}),
      tools_without_module: for(%{module: nil, name: name} <- tools, do: to_string(name))
    }
  end

  defp tool(spec, scope, options) do
    identity = {:tool, scope.server, spec.name}
    module = in_scope(tool_module(spec, options), scope)
    target = module && Scope.module_identity(scope, module)
    runs = if target, do: [Part.edge(identity, target, :invoke, :declared)], else: []

    %{
      name: spec.name,
      module: module,
      node: Part.node(identity, labels(spec)),
      edges: [Part.edge({:server, scope.server}, identity, :invoke, :declared) | runs]
    }
  end

  # What the host says, or the function that runs the tool: its own, or that for all.
  defp tool_module(spec, options) do
    case Map.fetch(options.tool_modules, to_string(spec.name)) do
      {:ok, module} -> module
      :error -> function_module(spec.handler || options.dispatch)
    end
  end

  defp function_module(fun) when is_function(fun), do: Function.info(fun)[:module]
  defp function_module(nil), do: nil
  defp function_module(declared), do: elem(declared, 0)

  defp in_scope(module, scope), do: if(module in scope.modules, do: module)

  defp labels(spec) do
    for key <- [:command_class, :mode], value = Map.fetch!(spec, key), into: %{}, do: {key, value}
  end

  defp readable(kind, name, scope, options) do
    identity = {kind, scope.server, name}

    read =
      if options.read_edges, do: [Part.edge({:server, scope.server}, identity, :read, :declared)]

    %{node: Part.node(identity), edges: read || []}
  end

  defp uri(%{uri_template: template}), do: template
  defp uri(%{uri: uri}), do: uri
end
