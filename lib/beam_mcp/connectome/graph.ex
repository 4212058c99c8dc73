defmodule BeamMCP.Connectome.Graph do
  @moduledoc """
  A connectome: the parts of a system and the ways between them, under one version of the schema.

  Nodes stand in the order of their ids and edges in the order of their keys, both by bytes, so
  that two graphs of the same parts are equal terms. Change one by making it again with `new/1`,
  which checks every node and edge, also those that a host wrote by hand.

  `index/1` puts a graph into the native library. Whoever asks more than one thing of a graph asks
  the index: nothing is read or sorted again.
  """

  alias BeamMCP.Connectome.{Edge, Fields, Index, Native, Node}

  @schema_version 3

  @enforce_keys [:schema_version, :nodes, :edges]
  defstruct [:schema_version, :nodes, :edges]

  @typedoc "A graph; 3 is written, 1 and 2 are read and written on request."
  @type t :: %__MODULE__{schema_version: 1..3, nodes: [Node.t()], edges: [Edge.t()]}

  @typedoc "Why a graph is refused."
  @type refusal ::
          {:unknown_key, term()}
          | {:missing, atom()}
          | {:invalid, atom(), term()}
          | {:duplicate_node, String.t()}
          | {:duplicate_edge, Edge.key()}
          | {:dangling_edge, String.t()}

  @doc "The version that this package writes unless told otherwise."
  @spec schema_version() :: 3
  def schema_version, do: @schema_version

  @doc """
  A graph from `schema_version:`, `nodes:` and `edges:`, all three required.

  The first thing wrong is refused by name, looked for in this order: the options, the version, the
  lists, each node, each edge (its sign has to be a word of the version), `{:duplicate_node, id}`,
  `{:duplicate_edge, key}`, `{:dangling_edge, id}`. Ids are compared as they are, without
  normalisation.
  """
  @spec new(keyword()) :: {:ok, t()} | {:error, refusal()}
  def new(options) do
    with :ok <- Fields.check(options, [:schema_version, :nodes, :edges], []) do
      Native.graph(struct!(__MODULE__, options))
    end
  end

  @doc "The same, raising `ArgumentError` with the refusal."
  @spec new!(keyword()) :: t()
  def new!(options), do: Fields.bang!(new(options), "graph")

  @doc """
  The graph inside the native library, for many questions.

  Returns what `BeamMCP.Connectome.encode/2` refuses: a graph without canonical bytes has no index.
  """
  @spec index(t()) :: {:ok, Index.t()} | {:error, {:uncanonical, term()}}
  def index(%__MODULE__{} = graph), do: Native.index(graph)
end
