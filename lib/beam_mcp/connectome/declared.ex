defmodule BeamMCP.Connectome.Declared do
  @moduledoc """
  What can happen: a graph from what a system declares, and beside it what that graph cannot say.

      {:ok, declared} =
        BeamMCP.Connectome.Declared.build(
          server: "my_app",
          apps: [:my_app],
          catalog: MyApp.Catalog,
          read_edges: true
        )

      declared.graph    # BeamMCP.Connectome.Graph
      declared.bound    # BeamMCP.Connectome.Declared.Bound

  Calls between modules are read by OTP's cross-reference tool out of the debug information of their
  object files; nothing of them is run or started. The application `:tools` has to be there: a
  release names it in `extra_applications`, a Mix task calls `Mix.ensure_application!(:tools)`.
  """

  alias BeamMCP.Connectome.{Declared, Graph, Part}
  alias BeamMCP.Connectome.Declared.{Bound, Calls, Offers, Options, Scope, Supervision}

  @enforce_keys [:graph, :bound]
  defstruct [:graph, :bound]

  @typedoc "A declared graph and its completeness bound."
  @type t :: %__MODULE__{graph: Graph.t(), bound: Bound.t()}

  @typedoc "Why nothing was built."
  @type refusal ::
          {:unknown_key, term()}
          | {:missing, :server | :scope}
          | {:invalid, atom(), term()}
          | {:unsupported, :boundaries, :reflect}
          | {:unknown_app, atom()}
          | {:unavailable, :xref}
          | Graph.refusal()

  @doc """
  Builds the graph.

    * `:server` - required, the name of the server: the same string as the instance's option
      `server_name`, or nothing observed is found again
    * `:modules` or `:apps` - required, one of them: the modules in scope, or the applications whose
      resource files name them. Applications are loaded, not started
    * `:catalog` - a `BeamMCP.Catalog`; `capabilities/0` is called once. A faulty one is refused
      with its faults
    * `:level` - what stands for code: `:module` (default), `:mfa` (functions) or `:boundary`
      (groups of modules)
    * `:boundaries` - for that level, a map of a module to `{:application, name}` or
      `{:boundary_module, module}`. Without it modules are grouped by application
    * `:tool_modules` - a map of a tool's name to the module that implements it. For others that is
      the module of their own `handler`, or of `:dispatch`
    * `:dispatch` - the instance's option of that name
    * `:dynamic_allowlist` - functions, `{module, function, arity}`, whose dynamic calls the host
      knows; they move to another field of the bound
    * `:read_edges` - `true` draws what the server does with its resources, templates and prompts.
      Observation does so too. `false` by default, since it changes digests
    * `:supervisors` - modules, or `{module, argument}`, whose `init/1` is called (with `[]`) for the
      children that they start, drawn as `:supervise` edges. None by default

  The graph has the server; each tool, labelled with its `command_class` and `mode` where it has
  them, with an edge from the server and one to its module; each resource and prompt; and the code:
  at level `:module` every module in scope and the calls between different ones, at `:mfa` every
  function that calls or is called inside the scope, at `:boundary` every group and the calls
  between different ones. All edges are declared, with the neutral sign and no weight.

  The first thing wrong is refused: `{:invalid, :opts, value}`, `{:unknown_key, key}`,
  `{:missing, :server}`, `{:missing, :scope}`, `{:invalid, :scope, [:modules, :apps]}`,
  `{:unsupported, :boundaries, :reflect}`, `{:invalid, key, value}`, `{:unknown_app, app}`,
  `{:unavailable, :xref}`.
  """
  @spec build(keyword()) :: {:ok, t()} | {:error, refusal()}
  def build(options) do
    with {:ok, options} <- Options.check(options),
         {:ok, scope} <- Scope.new(options),
         {:ok, capabilities} <- Offers.read(options.catalog),
         {:ok, children} <- Supervision.read(options.supervisors),
         {:ok, calls} <- Calls.read(Enum.sort(scope.modules)),
         offers = Offers.parts(capabilities, scope, options),
         {:ok, graph} <- graph(scope, offers, calls, children) do
      {:ok, %Declared{graph: graph, bound: bound(options, scope, offers, calls, children)}}
    end
  end

  defp graph(scope, offers, calls, children) do
    invoked = edges(calls.kept, :invoke, scope)
    supervised = edges(children, :supervise, scope)

    Graph.new(
      schema_version: Graph.schema_version(),
      nodes: [Part.node({:server, scope.server}) | offers.nodes] ++ code(scope, calls, children),
      edges: offers.edges ++ invoked ++ supervised
    )
  end

  # Functions are drawn when they take part; modules and groups always.
  defp code(%{level: :mfa} = scope, calls, children) do
    for {from, to} <- calls.kept ++ children, inside?(scope, {from, to}), mfa <- [from, to] do
      Scope.identity(scope, mfa)
    end
    |> nodes()
  end

  defp code(scope, _calls, _children),
    do: scope.modules |> Enum.map(&Scope.module_identity(scope, &1)) |> nodes()

  defp nodes(identities) do
    for identity <- Enum.uniq(identities), identity != nil, do: Part.node(identity)
  end

  defp edges(pairs, kind, scope) do
    for {from, to} <- pairs |> Enum.map(&ends(scope, &1)) |> Enum.uniq(),
        from != nil and to != nil,
        from != to or scope.level == :mfa do
      Part.edge(from, to, kind, :declared)
    end
  end

  defp ends(scope, {from, to}), do: {Scope.identity(scope, from), Scope.identity(scope, to)}

  defp inside?(scope, pair), do: nil not in Tuple.to_list(ends(scope, pair))

  defp bound(options, scope, offers, calls, children) do
    {allowed, unresolved} =
      Enum.split_with(calls.unresolved, fn {caller, _target} ->
        caller in options.dynamic_allowlist
      end)

    Bound.new(
      unresolved_calls: unresolved,
      allowlisted_calls: allowed,
      macro_expansion_calls: calls.macro,
      external_callees: for({_caller, {module, _, _}} <- calls.external, do: module),
      external_children: outside(children, scope),
      modules_without_beam: calls.without_beam,
      modules_without_debug_info: calls.without_debug_info,
      unreadable_catalog_entries: offers.unreadable,
      tools_without_module: offers.tools_without_module,
      ungrouped_modules: Scope.ungrouped(scope),
      ungrouped_calls: ungrouped(scope, calls),
      sources_used: sources(options, scope)
    )
  end

  defp outside(children, scope) do
    for {{supervisor, _init, _one}, {module, _function, _arity}} <- children,
        module not in scope.modules or supervisor not in scope.modules,
        do: {supervisor, module}
  end

  defp ungrouped(%{level: :boundary} = scope, calls),
    do: Enum.reject(calls.kept, &inside?(scope, &1))

  defp ungrouped(_scope, _calls), do: []

  defp sources(options, scope) do
    used = [catalog: options.catalog != nil, supervisors: options.supervisors != []]
    [:xref | scope.sources] ++ for {source, true} <- used, do: source
  end
end
