defmodule BeamMCP.Connectome.Command.Sources do
  @moduledoc false
  # Where the graphs of `mix beam_mcp.connectome` come from: files, this project, other nodes.

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Declared, Graph}
  alias BeamMCP.Connectome.Command.{Remote, Weights}
  alias BeamMCP.Native

  # Not in every version of Mix.
  @compile {:no_warn_undefined, {Mix, :ensure_application!, 1}}
  @dialyzer {:no_missing_calls, build!: 1}

  @levels ~w(module mfa boundary)
  @kinds ~w(invoke read message supervise)
  @signs ~w(allow deny hold ungoverned unset)

  @doc "The declared graph of a file, or of this project with its bound."
  @spec declared(keyword()) :: {Graph.t(), map() | nil}
  def declared(options) do
    case options[:declared] do
      nil ->
        declared = build!(options)
        {declared.graph, Declared.Bound.to_map(declared.bound)}

      file ->
        {read!(file), options[:bound] && json!(options[:bound], "bound")}
    end
  end

  @doc "What this project declares."
  @spec build!(keyword()) :: Declared.t()
  def build!(options) do
    # Elixir 1.15 and later leave applications out of the path that the project does not name.
    if function_exported?(Mix, :ensure_application!, 1), do: Mix.ensure_application!(:tools)
    options |> build_options() |> Declared.build() |> ok!("nothing was built")
  end

  @doc "The observed graph of a file or a node, and the window that is known."
  @spec observed(keyword()) :: {Graph.t(), map()}
  def observed(options) do
    window = Map.new(Keyword.get_values(options, :window), &pair!(&1, "--window"))

    case options[:observed] do
      nil ->
        {graph, of_collector} = Remote.observed!(options)
        {graph, if(window == %{}, do: of_collector, else: window)}

      file ->
        {read!(file), window}
    end
  end

  @doc "The observed graph with its weights, which a file of canonical bytes does not have."
  @spec weighed(keyword()) :: Graph.t()
  def weighed(options) do
    {graph, _window} = observed(options)

    case {options[:observed], options[:weights]} do
      {nil, nil} -> graph
      {_file, nil} -> fail("--weights is missing: the bytes of a graph have none")
      {_file, weights} -> Weights.lay!(graph, weights)
    end
  end

  @doc "The parts of a federation: the bytes of files by their members, and what nodes observed."
  @spec parts!([String.t()], keyword()) :: [{String.t(), binary() | Graph.t()}]
  def parts!(pairs, options) do
    files =
      for pair <- pairs, {member, file} = pair!(pair, "federate"), do: {member, bytes!(file)}

    nodes = if options[:node], do: Remote.parts!(options), else: []

    with [] <- files ++ nodes,
         do: fail("federate takes MEMBER=FILE, or --node and --collector")
  end

  @doc "The graph whose canonical bytes a file holds."
  @spec read!(Path.t()) :: Graph.t()
  def read!(file), do: file |> bytes!() |> Connectome.decode() |> ok!("#{file} holds no graph")

  @doc "What the JSON of a file says."
  @spec json!(Path.t(), String.t()) :: term()
  def json!(file, what),
    do: file |> bytes!() |> Native.decode() |> ok!("#{file} holds no #{what}")

  @doc "The options of a question of reach."
  @spec reach_options!(keyword()) :: keyword()
  def reach_options!(options) do
    [
      kinds: words!(options, :kind, @kinds),
      exclude_signs: words!(options, :exclude_sign, @signs),
      max_hops: options[:max_hops]
    ]
    |> Enum.reject(fn {_key, value} -> value in [nil, []] end)
  end

  @doc "The value, or an end with what was refused."
  @spec ok!({:ok, value} | {:error, term()}, String.t()) :: value when value: term()
  def ok!({:ok, value}, _otherwise), do: value
  def ok!({:error, reason}, otherwise), do: fail("#{otherwise}: #{why(reason)}")

  @doc "Ends the task."
  @spec fail(String.t()) :: no_return()
  def fail(reason), do: Mix.raise("beam_mcp.connectome: #{reason}")

  @doc "A module or other atom as it is written in Elixir."
  @spec atom!(String.t()) :: atom()
  def atom!(":" <> name), do: String.to_atom(name)
  def atom!(name), do: Module.concat([name])

  defp why({:missing, :scope}), do: "name its scope with --app APP or --module MODULE"
  defp why({:unknown_app, app}), do: "there is no application #{app} here: is it compiled?"
  defp why({:unknown_node, id}), do: "no part of the graph has the id #{id}"
  defp why(reason), do: inspect(reason)

  defp build_options(options) do
    tools = for tool <- Keyword.get_values(options, :tool), do: pair!(tool, "--tool")

    [
      server: options[:server] || fail("--server is missing: the server_name of the instance"),
      apps: options |> Keyword.get_values(:app) |> Enum.map(&String.to_atom/1),
      modules: options |> Keyword.get_values(:module) |> Enum.map(&atom!/1),
      supervisors: options |> Keyword.get_values(:supervisor) |> Enum.map(&atom!/1),
      catalog: options[:catalog] && atom!(options[:catalog]),
      dispatch: options[:dispatch] && function!(options[:dispatch]),
      level: level!(options[:level]),
      tool_modules: Map.new(tools, fn {tool, module} -> {tool, atom!(module)} end),
      read_edges: Keyword.get(options, :read_edges, true)
    ]
    |> Enum.reject(fn {_key, value} -> value in [nil, []] end)
  end

  # As it is written in messages: `MyApp.Tools.call`.
  defp function!(text) do
    case Regex.run(~r/\A(.+)\.(\w+[?!]?)\z/, text) do
      [_all, module, function] -> {atom!(module), String.to_atom(function)}
      nil -> fail("--dispatch takes MODULE.FUNCTION, got #{text}")
    end
  end

  defp level!(nil), do: nil
  defp level!(level), do: word!(level, "--level", @levels)

  defp words!(options, key, legal) do
    for word <- Keyword.get_values(options, key), do: word!(word, "--#{key}", legal)
  end

  defp word!(word, switch, legal) do
    if word in legal,
      do: String.to_atom(word),
      else: fail("#{switch} takes #{Enum.join(legal, ", ")}, got #{word}")
  end

  defp pair!(text, switch) do
    case String.split(text, "=", parts: 2) do
      [key, value] -> {key, value}
      _other -> fail("#{switch} takes NAME=VALUE, got #{text}")
    end
  end

  defp bytes!(file) do
    case File.read(file) do
      {:ok, bytes} -> bytes
      {:error, reason} -> fail("#{file}: #{:file.format_error(reason)}")
    end
  end
end
