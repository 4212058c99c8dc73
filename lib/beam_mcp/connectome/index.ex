defmodule BeamMCP.Connectome.Index do
  @moduledoc """
  A graph inside the native library, made by `BeamMCP.Connectome.Graph.index/1`.

  It never changes, may be used by any process of its node, and is freed when nobody holds it. Every
  function that takes a graph takes an index too.
  """

  @enforce_keys [:resource, :schema_version, :nodes, :edges]
  defstruct [:resource, :schema_version, :nodes, :edges]

  @typedoc "A graph inside the native library, and how many nodes and edges it has."
  @type t :: %__MODULE__{
          resource: reference(),
          schema_version: 1..3,
          nodes: non_neg_integer(),
          edges: non_neg_integer()
        }

  defimpl Inspect do
    def inspect(index, _options) do
      "#BeamMCP.Connectome.Index<#{index.nodes} nodes, #{index.edges} edges>"
    end
  end
end
