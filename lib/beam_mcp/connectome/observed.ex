defmodule BeamMCP.Connectome.Observed do
  @moduledoc """
  What did happen: a collector that counts, for each edge, how often it was used and how long that
  took.

      children = [
        {BeamMCP.Connectome.Observed, name: MyApp.Observed},
        {BeamMCP, name: MyApp.MCP, catalog: MyApp.Catalog, dispatch: &MyApp.Tools.call/3}
      ]

      {:ok, graph} = BeamMCP.Connectome.Observed.snapshot(MyApp.Observed)

  The process of each call tells the collectors of its instance when the host's function begins and
  when it ends: a tool is an edge `:invoke` from the server to the tool; a resource, a template and a
  prompt are edges `:read`. A function that is killed has been counted when it began. A call that is
  refused before it reaches the host is none. The host's own edges come through `observe/5`, those
  between modules and processes through `BeamMCP.Connectome.Tracer`.

  Names of parts are all that is kept, never an argument, a result or a header: a template counts
  under its own text, not under the URI that a client asked for. A name is published with the graph,
  so none should be a secret.

  What a collector has counted outlives its process: when a supervisor starts it again, it goes on
  with the same rows. `GenServer.stop/1` ends it for good, and what was counted goes with it.

  ## Options

  #{BeamMCP.Options.docs(:observed)}
  """

  use GenServer

  alias BeamMCP.Connectome.{Edge, Fields, Graph, Node, Part}
  alias BeamMCP.Connectome.Observed.{Collector, Row, Tables}
  alias BeamMCP.Options

  @named [:tool, :resource, :prompt, :process]
  @kinds [:invoke, :read, :message, :supervise]

  @typedoc "An edge of the graph by the identities of its ends."
  @type edge :: {from :: Node.identity(), to :: Node.identity(), Edge.kind()}

  @typedoc "An edge of the graph by the ids of its ends."
  @type label :: {from :: String.t(), to :: String.t(), Edge.kind()}

  @typedoc "How long runs took that have ended, in microseconds."
  @type latency :: %{count: pos_integer(), mean_us: float(), max_us: float()}

  @doc "The collector as a child of a supervisor; its id is the collector's name."
  @spec child_spec(keyword()) :: Supervisor.child_spec()
  def child_spec(options),
    do: %{
      id: Keyword.get(options, :name, __MODULE__),
      start: {__MODULE__, :start_link, [options]}
    }

  @doc "Starts a collector. Raises `ArgumentError` for a wrong option."
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(options) do
    options = Options.validate!(:observed, options)
    GenServer.start_link(__MODULE__, options, name: options.name)
  end

  @doc """
  The graph of what was seen: each part that took part, without labels, and each edge with its count
  as weight. Of the rows, not of their meaning: every edge is observed, with the neutral sign.
  """
  @spec snapshot(atom()) :: {:ok, Graph.t()} | {:error, :not_started | Graph.refusal()}
  def snapshot(name) do
    with {:ok, collector} <- Collector.fetch(name) do
      rows = Collector.rows(collector)

      Graph.new(
        schema_version: Graph.schema_version(),
        nodes: nodes(rows),
        edges: for({label, counted} <- merged(rows), do: edge(label, counted.count))
      )
    end
  end

  @doc "How long the runs of each edge took; edges of which none has ended are left out."
  @spec latency(atom()) :: {:ok, %{label() => latency()}} | {:error, :not_started}
  def latency(name) do
    with {:ok, collector} <- Collector.fetch(name) do
      {:ok,
       for {label, %{ended: ended} = counted} when ended > 0 <- merged(Collector.rows(collector)),
           into: %{} do
         {label, %{count: ended, mean_us: us(counted.sum / ended), max_us: us(counted.max)}}
       end}
    end
  end

  @doc "The rows as they are kept: edge, count, sum and maximum of the durations in native units."
  @spec rows(atom()) ::
          {:ok, [{edge(), pos_integer(), non_neg_integer(), non_neg_integer()}]}
          | {:error, :not_started}
  def rows(name) do
    with {:ok, collector} <- Collector.fetch(name) do
      {:ok,
       for {edge, counted} <- Collector.rows(collector) do
         {edge, counted.count, counted.sum, counted.max}
       end}
    end
  end

  @doc "How many edges there are, and how many runs found no room for theirs (`max_edges`)."
  @spec size(atom()) ::
          {:ok, %{edges: non_neg_integer(), dropped: non_neg_integer()}} | {:error, :not_started}
  def size(name) do
    with {:ok, collector} <- Collector.fetch(name) do
      {:ok, %{edges: Collector.size(collector), dropped: :counters.get(collector.dropped, 1)}}
    end
  end

  @doc """
  The time that the rows are about, as `BeamMCP.Connectome.Diff.run/3` takes it: from the start of
  the collector, or its last `reset/1`, until now.
  """
  @spec window(atom()) :: {:ok, %{String.t() => String.t()}} | {:error, :not_started}
  def window(name) do
    with {:ok, collector} <- Collector.fetch(name) do
      {:ok,
       %{"started_at" => iso8601(collector.since), "ended_at" => iso8601(DateTime.utc_now())}}
    end
  end

  @doc "Forgets what was counted; a new window begins."
  @spec reset(atom()) :: :ok | {:error, :not_started}
  def reset(name), do: Tables.reset(name)

  @doc """
  Counts one use of an edge that only the host knows of. `duration` is in native units, a negative
  one counts as 0. Servers, tools, resources, prompts, processes and whole modules can be its ends.
  Runs in the calling process.
  """
  @spec observe(atom(), Node.identity(), Node.identity(), Edge.kind(), integer()) ::
          :ok | {:error, :not_started | {:invalid, atom(), term()}}
  def observe(name, from, to, kind, duration \\ 0) when is_integer(duration) do
    with :ok <- admit(:from, from),
         :ok <- admit(:to, to),
         :ok <- Fields.member(:kind, kind, @kinds),
         {:ok, collector} <- Collector.fetch(name) do
      collector |> Collector.row({from, to, kind}) |> count(max(duration, 0))
    end
  end

  @impl GenServer
  def init(options) do
    :ok = Tables.open(options)
    {:ok, Process.monitor(Tables)}
  end

  # Its rows have gone: whoever supervises this starts it with new ones.
  @impl GenServer
  def handle_info({:DOWN, monitor, :process, _pid, _reason}, monitor),
    do: {:stop, :tables_lost, monitor}

  def handle_info(_unknown, monitor), do: {:noreply, monitor}

  defp count(nil, _duration), do: :ok
  defp count(row, duration), do: Row.used(row, duration)

  # Functions and groups are the builder's: what is observed is a part as a whole.
  defp admit(field, identity) do
    part? =
      case identity do
        {:server, server} -> text?(server)
        {:module, server, module} -> text?(server) and is_atom(module)
        {tag, server, name} when tag in @named -> text?(server) and (is_atom(name) or text?(name))
        _other -> false
      end

    Fields.that(part?, field, identity)
  end

  defp text?(text), do: is_binary(text) and String.valid?(text)

  defp edge({from, to, kind}, count) do
    Edge.new!(from: from, to: to, kind: kind, provenance: :observed, weight: count)
  end

  defp nodes(rows) do
    for {{from, to, _kind}, _counted} <- rows, identity <- [from, to], uniq: true do
      Part.node(identity)
    end
    |> Enum.uniq_by(& &1.id)
  end

  # A name that came as an atom here and as a string there is one part.
  defp merged(rows) do
    Enum.reduce(rows, %{}, fn {{from, to, kind}, counted}, merged ->
      Map.update(merged, {Node.id(from), Node.id(to), kind}, counted, &together(&1, counted))
    end)
  end

  defp together(one, other) do
    one
    |> Map.merge(other, fn _key, a, b -> a + b end)
    |> Map.put(:max, max(one.max, other.max))
  end

  defp us(native), do: native * 1_000_000 / System.convert_time_unit(1, :second, :native)

  defp iso8601(time), do: time |> DateTime.truncate(:millisecond) |> DateTime.to_iso8601()
end
