defmodule BeamMCP.Connectome.Reach do
  @moduledoc """
  What can reach what in a graph, with which path as a witness, and what has to be passed.

  Every function takes a graph or an index, and time about linear in its edges. Options:

    * `:kinds` - go along edges of these kinds; a list that is not empty
    * `:exclude_signs` - go around edges of these signs, such as those that a policy forbids
    * `:max_edges` - the largest graph that is looked at (1,000,000)
    * `:max_hops` - the longest path that counts, or `:infinity`; for `reachable?/4` and
      `reachable_without/5`
    * `:entries` - ids to start from; for `dominates?/4` and `mandatory_pass/3`. Without it these are
      the servers. Several entries dominate nothing that they share

  An option that has no bearing on a question is refused as `{:unknown_option, key}`. Further
  refusals: `{:invalid, key, value}`, `{:cap, :max_edges, limit}`, `{:invalid_graph, reason}`,
  `{:unknown_node, id}`. Ids are compared as they stand in the graph.
  """

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Edge, Graph, Index, Native}

  @kinds [:invoke, :read, :message, :supervise]
  @signs [:allow, :deny, :hold, :ungoverned, :unset, :unknown]
  @max_edges 1_000_000

  @shared [:kinds, :exclude_signs, :max_edges]
  @of_paths [:max_hops | @shared]
  @of_entries [:entries | @shared]

  defmodule Path do
    @moduledoc """
    A path as a witness: `nodes` in order, and for each step the first of its edges in the graph's
    order that the question admits.
    """
    @enforce_keys [:nodes, :edges]
    defstruct [:nodes, :edges]

    @typedoc "A path."
    @type t :: %__MODULE__{nodes: [String.t()], edges: [Edge.t()]}
  end

  @typedoc "Why a question has no answer."
  @type refusal ::
          {:unknown_option, term()}
          | {:invalid, atom(), term()}
          | {:unknown_node, term()}
          | {:cap, :max_edges, pos_integer()}
          | {:invalid_graph, Graph.refusal()}
          | {:unreachable, String.t()}

  @doc "Whether a path leads from one node to the other. A node reaches itself."
  @spec reachable?(Connectome.source(), String.t(), String.t(), keyword()) ::
          {:ok, boolean()} | {:error, refusal()}
  def reachable?(source, from, to, options \\ []) do
    case reachable_without(source, from, to, [], options) do
      {:ok, path} -> {:ok, path != false}
      refused -> refused
    end
  end

  @doc """
  A shortest path that passes none of `gates`, or `false`. Where one end is a gate there is none.
  """
  @spec reachable_without(Connectome.source(), String.t(), String.t(), [String.t()], keyword()) ::
          {:ok, Path.t() | false} | {:error, refusal()}
  def reachable_without(source, from, to, gates, options \\ []) when is_list(gates) do
    with {:ok, along, options} <- options(source, options, @of_paths),
         {:ok, max_hops} <- max_hops(Keyword.get(options, :max_hops, :infinity)) do
      case Native.path(source, from, to, gates, along, max_hops) do
        {:ok, nodes, edges} -> {:ok, %Path{nodes: nodes, edges: edges}}
        :none -> {:ok, false}
        refused -> refused
      end
    end
  end

  @doc """
  Whether every path from the entries to `target` passes `gate`. A node dominates itself. What
  nothing reaches is refused as `{:unreachable, target}`, so that it never looks guarded.
  """
  @spec dominates?(Connectome.source(), String.t(), String.t(), keyword()) ::
          {:ok, boolean()} | {:error, refusal()}
  def dominates?(source, gate, target, options \\ []) do
    with {:ok, dominators} <- dominators(source, target, [gate], options) do
      {:ok, gate == target or gate in dominators}
    end
  end

  @doc """
  The nodes that every path from the entries to `target` passes, without `target`.
  """
  @spec mandatory_pass(Connectome.source(), String.t(), keyword()) ::
          {:ok, MapSet.t(String.t())} | {:error, refusal()}
  def mandatory_pass(source, target, options \\ []) do
    with {:ok, dominators} <- dominators(source, target, [], options) do
      {:ok, MapSet.new(dominators)}
    end
  end

  @doc "Refused always: there may be more paths than anybody could list."
  @spec all_paths(Connectome.source(), String.t(), String.t(), keyword()) ::
          {:error, {:refused, :all_paths}}
  def all_paths(_source, _from, _to, _options \\ []), do: {:error, {:refused, :all_paths}}

  defp dominators(source, target, known, options) do
    with {:ok, along, options} <- options(source, options, @of_entries),
         {:ok, entries} <- entries(options) do
      Native.dominators(source, target, known, entries, along)
    end
  end

  defp options(source, options, known) do
    with :ok <- that(Keyword.keyword?(options), :options, options),
         :ok <- known(options, known),
         kinds = Keyword.get(options, :kinds, @kinds),
         :ok <- that(kinds != [] and subset?(kinds, @kinds), :kinds, kinds),
         signs = Keyword.get(options, :exclude_signs, []),
         :ok <- that(subset?(signs, @signs), :exclude_signs, signs),
         max = Keyword.get(options, :max_edges, @max_edges),
         :ok <- that(is_integer(max) and max > 0, :max_edges, max),
         :ok <- within(source, max) do
      {:ok, {kinds, signs}, options}
    end
  end

  defp known(options, keys) do
    case Enum.find(Keyword.keys(options), &(&1 not in keys)) do
      nil -> :ok
      key -> {:error, {:unknown_option, key}}
    end
  end

  defp subset?(list, all), do: proper?(list) and Enum.all?(list, &(&1 in all))

  defp proper?(list), do: is_list(list) and not List.improper?(list)

  defp within(source, max) do
    if count(source) > max, do: {:error, {:cap, :max_edges, max}}, else: :ok
  end

  defp count(%Index{edges: count}), do: count
  defp count(%Graph{edges: edges}), do: if(proper?(edges), do: length(edges), else: 0)

  defp max_hops(:infinity), do: {:ok, nil}
  defp max_hops(hops) when is_integer(hops) and hops > 0, do: {:ok, min(hops, @max_edges * 1_000)}
  defp max_hops(other), do: {:error, {:invalid, :max_hops, other}}

  defp entries(options) do
    case Keyword.fetch(options, :entries) do
      :error -> {:ok, nil}
      {:ok, [_ | _] = ids} -> with(:ok <- that(proper?(ids), :entries, ids), do: {:ok, ids})
      {:ok, other} -> {:error, {:invalid, :entries, other}}
    end
  end

  defp that(true, _key, _value), do: :ok
  defp that(false, key, value), do: {:error, {:invalid, key, value}}
end
