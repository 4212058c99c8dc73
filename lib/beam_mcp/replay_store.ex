defmodule BeamMCP.ReplayStore do
  @moduledoc """
  Where it is remembered which DPoP proofs were seen (RFC 9449 §11.1).

  The option `replay_store: {module, options}` names an implementation; the default,
  `BeamMCP.ReplayStore.ETS`, remembers them in memory of one node, `BeamMCP.ReplayStore.Mnesia` on
  several. Behind a load balancer a proof can be shown once to each node that remembers for itself, so
  an instance that is `clustered` wants a store that is shared, or `replay: :per_node` beside
  `dpop_nonce: :required` in each listener: a nonce makes the time shorter in which that works, but not
  the number of nodes smaller.

  Functions run in the process of the request and have `hook_timeout_ms`. What they raise, and an
  error that they return, is answered with 503: a proof that nobody can look up is never accepted.
  """

  @typedoc "Whose proofs they are, as of `BeamMCP.SessionStore`."
  @type namespace :: term()

  @doc "What the store runs under the instance's supervisor; the options come from the host."
  @callback child_spec({namespace(), options :: keyword()}) :: Supervisor.child_spec()

  @doc "Whether instances of one `namespace` on several nodes have their proofs in common."
  @callback shared?() :: boolean()
  @optional_callbacks shared?: 0

  @doc """
  Remembers `key`, 43 characters, for `ttl_s` seconds unless it is remembered already. Of any number
  of callers at the same time exactly one gets `:new`.
  """
  @callback claim(namespace(), key :: String.t(), ttl_s :: pos_integer()) ::
              :new | :seen | {:error, term()}
end
