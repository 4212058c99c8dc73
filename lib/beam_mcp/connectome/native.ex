defmodule BeamMCP.Connectome.Native do
  @moduledoc false

  # The native library's functions on connectomes. All of them run on dirty schedulers.

  alias BeamMCP.Connectome.{Edge, Graph, Index}
  alias BeamMCP.NIF

  # A connectome, as terms or inside the native library.
  @type source :: Graph.t() | Index.t()

  # The kinds of edges that a question goes along, and the signs that it goes around.
  @type along :: {[atom()], [atom()]}

  @spec graph(Graph.t()) :: {:ok, Graph.t()} | {:error, Graph.refusal()}
  def graph(graph) do
    with {:ok, nodes, edges} <- NIF.connectome_graph(graph) do
      {:ok, %{graph | nodes: nodes, edges: edges}}
    end
  end

  @spec index(Graph.t()) :: {:ok, Index.t()} | {:error, {:uncanonical, term()}}
  def index(graph) do
    with {:ok, resource, nodes, edges} <- NIF.connectome_index(graph) do
      version = graph.schema_version
      {:ok, %Index{resource: resource, schema_version: version, nodes: nodes, edges: edges}}
    end
  end

  @spec encode(source(), 1..3 | nil, atom()) :: {:ok, binary()} | {:error, term()}
  def encode(source, version, algorithm),
    do: NIF.connectome_encode(handle(source), version, algorithm)

  @spec digest(source(), 1..3 | nil, atom()) :: {:ok, String.t()} | {:error, term()}
  def digest(source, version, algorithm),
    do: NIF.connectome_digest(handle(source), version, algorithm)

  @spec sidecar(source()) :: {:ok, binary()} | {:error, term()}
  def sidecar(source), do: NIF.connectome_sidecar(handle(source))

  @spec dot(source()) :: {:ok, binary()} | {:error, term()}
  def dot(source), do: NIF.connectome_dot(handle(source))

  @spec graphml(source()) :: {:ok, binary()} | {:error, term()}
  def graphml(source), do: NIF.connectome_graphml(handle(source))

  @spec verify(binary(), String.t() | nil) ::
          {:ok, 1..4, atom(), String.t()} | {:error, term()}
  def verify(bytes, digest), do: NIF.connectome_verify(bytes, digest)

  @spec decode(binary()) :: {:ok, Graph.t()} | {:error, term()}
  def decode(bytes), do: NIF.connectome_decode(bytes)

  @spec encode_value(term()) :: {:ok, binary()} | {:error, term()}
  def encode_value(value), do: NIF.connectome_encode_value(value)

  @spec digest_value(term(), atom()) :: {:ok, String.t()} | {:error, term()}
  def digest_value(value, algorithm),
    do: NIF.connectome_digest_value(value, algorithm)

  @spec diff(source(), source(), 1..3) ::
          {:ok, reference(), map(), map()} | {:error, term()}
  def diff(declared, observed, version),
    do: NIF.connectome_diff(handle(declared), handle(observed), version)

  @spec diff_encode(reference(), 1..3, atom(), map()) ::
          {:ok, binary()} | {:error, term()}
  def diff_encode(diff, version, algorithm, window),
    do: NIF.connectome_diff_encode(diff, version, algorithm, window)

  @spec diff_digest(reference(), 1..3, atom(), map()) ::
          {:ok, String.t()} | {:error, term()}
  def diff_digest(diff, version, algorithm, window),
    do: NIF.connectome_diff_digest(diff, version, algorithm, window)

  @spec effective(source(), source()) ::
          {:ok, Graph.t(), [Edge.t()]} | {:error, term()}
  def effective(declared, observed),
    do: NIF.connectome_effective(handle(declared), handle(observed))

  @spec path(source(), term(), term(), [term()], along(), pos_integer() | nil) ::
          {:ok, [String.t()], [Edge.t()]} | :none | {:error, term()}
  def path(source, from, to, gates, along, max_hops),
    do: NIF.connectome_path(handle(source), from, to, gates, along, max_hops)

  @spec dominators(source(), term(), [term()], [term()] | nil, along()) ::
          {:ok, [String.t()]} | {:error, term()}
  def dominators(source, target, known, entries, along),
    do: NIF.connectome_dominators(handle(source), target, known, entries, along)

  @spec merge([{String.t(), source() | binary(), atom()}]) ::
          {:ok, reference(), [tuple()], {[tuple()], [tuple()]}} | {:error, term()}
  def merge(parts) do
    NIF.connectome_merge(for {member, source, name} <- parts, do: {member, handle(source), name})
  end

  @spec federation_encode(reference(), atom()) :: binary()
  def federation_encode(federation, algorithm),
    do: NIF.connectome_federation_encode(federation, algorithm)

  @spec federation_digest(reference(), atom()) :: String.t()
  def federation_digest(federation, algorithm),
    do: NIF.connectome_federation_digest(federation, algorithm)

  defp handle(%Index{resource: resource}), do: resource
  defp handle(%Graph{} = graph), do: graph
  defp handle(bytes) when is_binary(bytes), do: bytes
end
