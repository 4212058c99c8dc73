defmodule BeamMCP.Connectome.Effective do
  @moduledoc """
  Effective connectivity: the weights that were observed, on the edges that were declared.

  The answer is the declared graph itself. Weights are no part of its bytes, so its digest is the
  declared one's; `BeamMCP.Connectome.sidecar/1` writes them.
  """

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Edge, Graph, Native}

  @enforce_keys [:graph, :unplaced, :coverage]
  defstruct [:graph, :unplaced, :coverage]

  @typedoc """
  How far the weights reach: declared edges, those of them with a weight, observed edges without a
  declared one, and the sum of the weights on either.
  """
  @type coverage :: %{
          declared_edges: non_neg_integer(),
          weighted_edges: non_neg_integer(),
          unplaced_edges: non_neg_integer(),
          placed_weight: number(),
          unplaced_weight: number()
        }

  @typedoc "The declared graph with weights, and the observed edges that it has no place for."
  @type t :: %__MODULE__{graph: Graph.t(), unplaced: [Edge.t()], coverage: coverage()}

  @doc """
  Lays the weights of `observed` upon `declared`, by label. An edge that was never observed has
  none, which says less than a weight of 0.

  Refuses either graph as `BeamMCP.Connectome.Diff.run/3` does.
  """
  @spec project(Connectome.source(), Connectome.source()) :: {:ok, t()} | {:error, term()}
  def project(declared, observed) do
    with {:ok, graph, unplaced} <- Native.effective(declared, observed) do
      {:ok, %__MODULE__{graph: graph, unplaced: unplaced, coverage: coverage(graph, unplaced)}}
    end
  end

  defp coverage(graph, unplaced) do
    placed = for %{weight: weight} when weight != nil <- graph.edges, do: weight

    %{
      declared_edges: length(graph.edges),
      weighted_edges: length(placed),
      unplaced_edges: length(unplaced),
      placed_weight: Enum.sum(placed),
      unplaced_weight: unplaced |> Enum.map(&(&1.weight || 0)) |> Enum.sum()
    }
  end
end
