defmodule BeamMCP.Connectome.Surface do
  @moduledoc """
  The connectome over MCP itself, for hosts that want it there: resources and a tool for a catalog.

      defmodule MyApp.Catalog do
        @behaviour BeamMCP.Catalog

        @connectome [
          declared: [server: "my_app", apps: [:my_app], catalog: __MODULE__, read_edges: true],
          observed: MyApp.Observed
        ]

        def capabilities do
          %{
            tools: [BeamMCP.Connectome.Surface.tool(@connectome) | tools()],
            resources: BeamMCP.Connectome.Surface.resources(@connectome),
            prompts: []
          }
        end
      end

  Nothing is served unless it is listed so. A graph names every part, also the definitions that scopes
  or `authorize_definition` hide from whoever reads it: `:required_scopes` says who may. The
  resources `connectome://declared`, `connectome://observed` and `connectome://diff` answer canonical
  bytes as they are; the scheme is this package's own, no capability is claimed for it. What reads
  them is observed like everything else.

  ## Options

    * `:declared` - options of `BeamMCP.Connectome.Declared.build/1`, or a graph. With options the
      graph is built for each read, one at a time on a node: it follows code that is loaded anew,
      and takes about a second for some hundred modules, whose debug information it reads. A host
      whose code stays as it is builds once when it starts and registers the graph, as
      `docs/connectome.md` does
    * `:observed` - the name of a `BeamMCP.Connectome.Observed` collector
    * `:window` - a map for the difference; the collector's own window unless given
    * `:algorithm` - of the digest, `:sha256` unless given
    * `:required_scopes` - of the resources and the tool, as in `BeamMCP.ToolSpec`; none unless given

  What the options do not name is not listed: the difference needs `:declared` and `:observed`.
  """

  alias BeamMCP.{Connectome, ResourceSpec, ToolSpec}
  alias BeamMCP.Connectome.{Declared, Diff, Graph, Observed}

  @options [:declared, :observed, :window, :algorithm, :required_scopes]
  @needs [declared: [:declared], diff: [:declared, :observed], observed: [:observed]]
  @descriptions [
    declared: "What the parts of this server can reach, in canonical JSON",
    diff: "What was declared against what was observed, in canonical JSON",
    observed: "What the parts of this server did reach, in canonical JSON"
  ]

  @typedoc "Which of the three."
  @type which :: :declared | :diff | :observed

  @doc "The resources that the options permit. Raises `ArgumentError` for an unknown option."
  @spec resources(keyword()) :: [ResourceSpec.t()]
  def resources(options) do
    for which <- available!(options) do
      %ResourceSpec{
        uri: "connectome://#{which}",
        name: "connectome-#{which}",
        description: @descriptions[which],
        mime_type: "application/json",
        required_scopes: scopes(options),
        handler: {__MODULE__, :read, [which, options]}
      }
    end
  end

  @doc "A tool `connectome` that answers one of the three with its digest."
  @spec tool(keyword()) :: ToolSpec.t()
  def tool(options) do
    names = options |> available!() |> Enum.map(&Atom.to_string/1)

    %ToolSpec{
      name: "connectome",
      description: "Returns a connectome of this server in canonical JSON, with its digest.",
      annotations: %{readOnlyHint: true},
      input_schema: %{
        "type" => "object",
        "properties" => %{"graph" => %{"type" => "string", "enum" => names}},
        "required" => ["graph"]
      },
      argument_keys: :strings,
      required_scopes: scopes(options),
      handler: {__MODULE__, :call, [options]}
    }
  end

  @doc """
  The canonical bytes of one of the three. `{:error, {:missing, key}}` where the options do not name
  what it needs, else what its builder refuses.
  """
  @spec bytes(which(), keyword()) :: {:ok, binary()} | {:error, term()}
  def bytes(which, options) do
    with {:ok, _bytes, _digest} = answer <- answer(which, options), do: {:ok, elem(answer, 1)}
  end

  @doc false
  def read(_asked, which, options) do
    with {:error, reason} <- bytes(which, options), do: {:error, refused(which, reason)}
  end

  @doc false
  def call(%{"graph" => name}, options) do
    which = Enum.find(Keyword.keys(@needs), &(Atom.to_string(&1) == name))
    algorithm = Keyword.get(options, :algorithm, :sha256)

    case answer(which, options) do
      {:ok, bytes, digest} ->
        {:ok, %{"graph" => name, "bytes" => bytes, Atom.to_string(algorithm) => digest}}

      {:error, reason} ->
        {:error, refused(which, reason)}
    end
  end

  defp available!(options) do
    BeamMCP.Options.only!(options, @options)
    for {which, needs} <- @needs, Enum.all?(needs, &Keyword.has_key?(options, &1)), do: which
  end

  defp scopes(options), do: Keyword.get(options, :required_scopes, [])

  defp answer(which, options) do
    algorithm = Keyword.take(options, [:algorithm])

    with :ok <- needs(which, options), do: encoded(which, options, algorithm)
  end

  defp encoded(:diff, options, algorithm) do
    with {:ok, declared} <- graph(:declared, options),
         {:ok, observed} <- graph(:observed, options),
         {:ok, window} <- window(options),
         {:ok, diff} <- Diff.run(declared, observed, window: window),
         {:ok, bytes} <- Diff.encode(diff, algorithm),
         {:ok, digest} <- Diff.digest(diff, algorithm) do
      {:ok, bytes, digest}
    end
  end

  defp encoded(which, options, algorithm) do
    with {:ok, graph} <- graph(which, options),
         {:ok, bytes} <- Connectome.encode(graph, algorithm),
         {:ok, digest} <- Connectome.digest(graph, algorithm) do
      {:ok, bytes, digest}
    end
  end

  defp needs(which, options) do
    case Enum.find(@needs[which], &(not Keyword.has_key?(options, &1))) do
      nil -> :ok
      key -> {:error, {:missing, key}}
    end
  end

  defp graph(:observed, options), do: Observed.snapshot(options[:observed])

  defp graph(:declared, options) do
    case options[:declared] do
      %Graph{} = graph -> {:ok, graph}
      build -> one_at_a_time(fn -> Declared.build(build) end)
    end
  end

  # Whoever may read may read often: the work of builds does not add up.
  defp one_at_a_time(build) do
    with {:ok, declared} <- :global.trans({__MODULE__, self()}, build, [node()]),
         do: {:ok, declared.graph}
  end

  defp window(options) do
    case Keyword.fetch(options, :window) do
      {:ok, window} -> {:ok, window}
      :error -> Observed.window(options[:observed])
    end
  end

  # The reason is the host's: it may name modules and options.
  defp refused(which, reason) do
    BeamMCP.Fault.log_text("connectome://#{which} cannot be answered: #{inspect(reason)}")
    "The #{which} connectome is not available."
  end
end
