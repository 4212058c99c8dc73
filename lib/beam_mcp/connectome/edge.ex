defmodule BeamMCP.Connectome.Edge do
  @moduledoc """
  One way in which a part of the system talks, or talked, to another.

    * `from`, `to` - ids of nodes
    * `kind` - `:invoke` (a call; also what a server does with its tools), `:read` (a resource or
      prompt), `:message` (process to process) or `:supervise`
    * `provenance` - `:declared` where it can happen, `:observed` where it did
    * `sign` - what a policy says about it. This package writes `:unset` and reads no meaning into
      any other; a host writes its own verdict into the struct and makes the graph again
    * `weight` - a measurement, or `nil`; no digest covers it

  `from`, `to`, `kind` and `provenance` together are its identity, see `key/1`.
  """

  alias BeamMCP.Connectome.Fields

  @kinds [:invoke, :read, :message, :supervise]
  @provenances [:declared, :observed]

  @enforce_keys [:from, :to, :kind, :provenance]
  defstruct [:from, :to, :kind, :provenance, :weight, sign: :unset]

  @typedoc "How the one talks to the other."
  @type kind :: :invoke | :read | :message | :supervise

  @typedoc "Whether it can happen or did."
  @type provenance :: :declared | :observed

  @typedoc "A verdict of the host's; `:unknown` exists in version 1 alone, `:ungoverned` and `:unset` later."
  @type sign :: :allow | :deny | :hold | :ungoverned | :unset | :unknown

  @typedoc "The identity of an edge."
  @type key :: {from :: String.t(), to :: String.t(), kind(), provenance()}

  @typedoc "One edge."
  @type t :: %__MODULE__{
          from: String.t(),
          to: String.t(),
          kind: kind(),
          provenance: provenance(),
          weight: number() | nil,
          sign: sign()
        }

  @typedoc "Why an edge is refused."
  @type refusal :: {:unknown_key, term()} | {:missing, atom()} | {:invalid, atom(), term()}

  @doc """
  An edge from `from:`, `to:`, `kind:`, `provenance:` and, if there is one, `weight:`.

  The first thing wrong is refused by name: `{:invalid, :opts, value}`, `{:unknown_key, key}` - a
  `sign:` among them -, `{:missing, key}`, `{:invalid, field, value}`.
  """
  @spec new(keyword()) :: {:ok, t()} | {:error, refusal()}
  def new(options) do
    with :ok <- Fields.check(options, [:from, :to, :kind, :provenance], [:weight]),
         edge = struct!(__MODULE__, options),
         :ok <- Fields.that(is_binary(edge.from), :from, edge.from),
         :ok <- Fields.that(is_binary(edge.to), :to, edge.to),
         :ok <- Fields.member(:kind, edge.kind, @kinds),
         :ok <- Fields.member(:provenance, edge.provenance, @provenances),
         :ok <- Fields.that(weight?(edge.weight), :weight, edge.weight) do
      {:ok, edge}
    end
  end

  @doc "The same, raising `ArgumentError` with the refusal."
  @spec new!(keyword()) :: t()
  def new!(options), do: Fields.bang!(new(options), "edge")

  @doc "What makes two edges the same edge."
  @spec key(t()) :: key()
  def key(%__MODULE__{} = edge), do: {edge.from, edge.to, edge.kind, edge.provenance}

  defp weight?(nil), do: true
  defp weight?(weight), do: is_number(weight) and weight >= 0
end
