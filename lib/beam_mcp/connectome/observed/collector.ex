defmodule BeamMCP.Connectome.Observed.Collector do
  @moduledoc false
  # One collector as the processes of calls see it: which instances it watches and the table of its
  # rows. All of them are one persistent term, read by every call and written by
  # `BeamMCP.Connectome.Observed.Tables` alone.
  #
  # A row is `{edge, BeamMCP.Connectome.Observed.Row}`. The edge is `{from, to, kind}`; what a server
  # does with its own offers, which is the hot path, is kept under the offer's identity alone.

  alias BeamMCP.Connectome.{Edge, Node, Observed.Row}

  @enforce_keys [:name, :table, :instances, :max_edges, :dropped, :since]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          name: atom(),
          table: :ets.table(),
          instances: :all | [term()],
          max_edges: pos_integer(),
          # One counter: runs that found no room for their edge.
          dropped: :counters.counters_ref(),
          since: DateTime.t()
        }

  @type edge :: {Node.identity(), Node.identity(), Edge.kind()}
  @type offer :: {:tool | :resource | :prompt, server :: String.t(), name :: atom() | String.t()}

  @spec all() :: [t()]
  def all, do: :persistent_term.get(__MODULE__, [])

  @spec put_all([t()]) :: :ok
  def put_all(collectors), do: :persistent_term.put(__MODULE__, collectors)

  @spec fetch(atom()) :: {:ok, t()} | {:error, :not_started}
  def fetch(name) do
    case Enum.find(all(), &(&1.name == name)) do
      nil -> {:error, :not_started}
      collector -> {:ok, collector}
    end
  end

  @spec new(map()) :: t()
  def new(options) do
    %__MODULE__{
      name: options.name,
      table: :ets.new(__MODULE__, [:public, read_concurrency: true]),
      instances: options.instances,
      max_edges: options.max_edges,
      dropped: :counters.new(1, [:write_concurrency]),
      since: DateTime.utc_now()
    }
  end

  @spec watches?(t(), term()) :: boolean()
  def watches?(%{instances: :all}, _instance), do: true
  def watches?(%{instances: instances}, instance), do: instance in instances

  @doc """
  The row of an edge, made when it is new. `nil` when there are as many as there may be, or the
  collector has gone.
  """
  @spec row(t(), edge() | offer()) :: Row.t() | nil
  def row(collector, key) do
    :ets.lookup_element(collector.table, key, 2)
  rescue
    # Seldom: the first run of an edge.
    ArgumentError -> add(collector, key)
  end

  @doc "Every edge with what was counted of it; a row is there a moment before its first run."
  @spec rows(t()) :: [{edge(), Row.counted()}]
  def rows(collector) do
    for {key, row} <- :ets.tab2list(collector.table),
        %{count: count} = counted when count > 0 <- [Row.read(row)],
        do: {edge(key), counted}
  rescue
    ArgumentError -> []
  end

  @spec size(t()) :: non_neg_integer()
  def size(collector) do
    case :ets.info(collector.table, :size) do
      :undefined -> 0
      size -> size
    end
  end

  # Those that are new at once may all find the last room: there are never many more than may be.
  defp add(collector, key) do
    if :ets.info(collector.table, :size) < collector.max_edges do
      :ets.insert_new(collector.table, {key, Row.new()})
      :ets.lookup_element(collector.table, key, 2)
    else
      :counters.add(collector.dropped, 1, 1)
      nil
    end
  rescue
    # The table has gone.
    ArgumentError -> nil
  end

  defp edge({tag, server, _name} = offer) when tag in [:resource, :prompt],
    do: {{:server, server}, offer, :read}

  defp edge({:tool, server, _name} = offer), do: {{:server, server}, offer, :invoke}
  defp edge({_from, _to, _kind} = edge), do: edge
end
