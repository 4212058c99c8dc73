defmodule BeamMCP.Decision do
  @moduledoc """
  What was decided over a caller: what the option `audit` gets, one for each decision.

  A request may be decided over twice: by what its sender shows (`stage: :sender`), and by what it
  asks for (`stage: :operation`), where scopes or the host say something about that. It is told
  once more when it comes too often, or beside too many others of its caller (`rate`,
  `principal_busy`, `subscriptions_full`).

    * `outcome` - `:permit` or `:deny`; `reason` - why it was denied, in a word: the last table of the
      guide to authorization says what each means
    * `at_ms` - when, in milliseconds of Unix time; `duration_us` - how long the sender's credentials
      took, with all questions to others
    * `method`, `definition` - what is asked for, of the operation; the definition as it was declared,
      once it is known. The stream of a session has no method
    * `issuer`, `binding`, `client` - who issued the access token, what ties it to its sender, and for
      which client it is: the first 8 hexadecimal digits of SHA-256 of the client's id
    * `principal` - who calls, in the same form
    * `wanted` - the scopes that the operation needs, `missing` - those of them that were not granted,
      `held` - how many were granted
    * `denial` - `:challenge`, or `:neutral` where the answer is that of what does not exist; `nil`
      of a limit

  Tokens, proofs, claims and arguments are never in it.
  """

  @enforce_keys [:instance, :stage, :outcome, :at_ms]
  defstruct [
    :instance,
    :stage,
    :outcome,
    :reason,
    :at_ms,
    :duration_us,
    :method,
    :definition,
    :issuer,
    :binding,
    :client,
    :principal,
    :held,
    :denial,
    wanted: [],
    missing: []
  ]

  @typedoc "One decision."
  @type t :: %__MODULE__{
          instance: term(),
          stage: :sender | :operation,
          outcome: :permit | :deny,
          reason: String.t() | nil,
          at_ms: integer(),
          duration_us: non_neg_integer() | nil,
          method: String.t() | nil,
          definition: String.t() | nil,
          issuer: String.t() | nil,
          binding: :bearer | :dpop | :mtls | :"dpop+mtls" | nil,
          client: String.t() | nil,
          principal: String.t() | nil,
          wanted: [String.t()],
          missing: [String.t()],
          held: non_neg_integer() | nil,
          denial: :challenge | :neutral | nil
        }

  @doc false
  # Of an event of the native library, if it is about a decision.
  @spec of_event(term(), {atom(), map(), map()}) :: t() | nil
  def of_event(instance, {:decision, measurements, metadata}) do
    metadata
    |> Map.merge(measurements)
    |> Map.put(:instance, instance)
    |> then(&struct!(__MODULE__, &1))
  end

  def of_event(_instance, _other), do: nil
end
