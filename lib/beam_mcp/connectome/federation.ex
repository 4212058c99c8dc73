defmodule BeamMCP.Connectome.Federation do
  @moduledoc """
  The graphs of several nodes in one record that says who asserted what.

  Nothing is merged away. Each graph is a *part*, asserted by a *member*; ids are scoped by the
  member's name, every node and edge names its part, and each part carries the digest of its own
  bytes, so that a reader takes the record apart again and checks every member's signature.
  What members say differently about one thing is listed under `conflicts`.

  `docs/connectome-federation.md` describes the bytes, which are schema version 4.
  """

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Edge, Fields, Native}

  @enforce_keys [:resource, :parts, :conflicts]
  defstruct [:resource, :parts, :conflicts]

  @typedoc "A graph that a member asserts; conflicts name it by its position."
  @type part :: %{
          member: String.t(),
          schema_version: 1..3,
          algorithm: Connectome.algorithm(),
          digest: String.t()
        }

  @typedoc "Signs that differ, and the parts that supply them."
  @type edge_conflict :: %{
          from: String.t(),
          to: String.t(),
          kind: Edge.kind(),
          claims: [%{part: non_neg_integer(), provenance: Edge.provenance(), sign: Edge.sign()}]
        }

  @typedoc "A kind, a level or a label that differs, and what each part says."
  @type node_conflict :: %{
          id: String.t(),
          field: :kind | :level | {:label, String.t()},
          claims: [%{part: non_neg_integer(), value: term()}]
        }

  @typedoc "A federation; `resource` is the same inside the native library, which writes it."
  @type t :: %__MODULE__{
          resource: reference(),
          parts: [part()],
          conflicts: %{edges: [edge_conflict()], nodes: [node_conflict()]}
        }

  @doc """
  Merges `{member, graph}` pairs. A graph is a graph, an index, or canonical bytes, which are
  checked as `BeamMCP.Connectome.verify/2` does: a member is no more trusted than a client.

    * `:algorithm` - the digest that graphs which are not bytes are named by; `:sha256`

  Refusals: `{:part, member, reason}`, `{:invalid, :member, name}` for a name that is empty or
  no text, `{:duplicate_part, member}` for one graph that a member asserts twice.
  """
  @spec merge([{String.t(), Connectome.source() | binary()}], keyword()) ::
          {:ok, t()} | {:error, term()}
  def merge(parts, options \\ []) when is_list(parts) do
    with {:ok, algorithm} <- Connectome.algorithm(options),
         :ok <- named(parts),
         parts = for({member, graph} <- parts, do: {member, graph, algorithm}),
         {:ok, resource, parts, {edges, nodes}} <- Native.merge(parts) do
      conflicts = %{edges: Enum.map(edges, &edge/1), nodes: Enum.map(nodes, &node_conflict/1)}

      {:ok,
       %__MODULE__{resource: resource, parts: Enum.map(parts, &part/1), conflicts: conflicts}}
    end
  end

  @doc "The canonical bytes, naming `:algorithm`."
  @spec encode(t(), keyword()) :: {:ok, binary()} | {:error, term()}
  def encode(%__MODULE__{} = federation, options \\ []) do
    with {:ok, algorithm} <- Connectome.algorithm(options) do
      {:ok, Native.federation_encode(federation.resource, algorithm)}
    end
  end

  @doc "The digest over the canonical bytes in lower-case hexadecimal."
  @spec digest(t(), keyword()) :: {:ok, String.t()} | {:error, term()}
  def digest(%__MODULE__{} = federation, options \\ []) do
    with {:ok, algorithm} <- Connectome.algorithm(options) do
      {:ok, Native.federation_digest(federation.resource, algorithm)}
    end
  end

  defp named(parts) do
    case Enum.find(parts, &(not match?({member, _graph} when is_binary(member), &1))) do
      nil -> :ok
      {member, _graph} -> {:error, {:invalid, :member, member}}
      other -> Fields.that(false, :part, other)
    end
  end

  defp part({member, version, algorithm, digest}),
    do: %{member: member, schema_version: version, algorithm: algorithm, digest: digest}

  defp edge({from, to, kind, claims}) do
    claims =
      for {part, provenance, sign} <- claims,
          do: %{part: part, provenance: provenance, sign: sign}

    %{from: from, to: to, kind: kind, claims: claims}
  end

  defp node_conflict({id, field, claims}) do
    %{id: id, field: field, claims: for({part, value} <- claims, do: %{part: part, value: value})}
  end
end
