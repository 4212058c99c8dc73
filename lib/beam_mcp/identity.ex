defmodule BeamMCP.Identity do
  @moduledoc false
  # Who calls, as the native library keeps it: bytes that are compared for equality, and bytes that
  # come back with each call of the caller and become fields of its context.

  @type encoded :: {principal :: binary(), identity :: binary()}

  @doc "The second of them for the sender of an access token whom the host names `principal`."
  @spec of_token(principal :: term(), BeamMCP.TokenFacts.t(), tenant :: term()) :: binary()
  def of_token(principal, facts, tenant) do
    :erlang.term_to_binary({principal, facts.scopes, facts.claims, facts.binding, tenant})
  end

  @spec encode(principal :: term(), scopes :: [String.t()] | nil, sender :: term()) :: encoded()
  def encode(principal, scopes \\ nil, sender \\ nil) do
    claims = tenant = nil

    {:erlang.term_to_binary(principal, [:deterministic]),
     :erlang.term_to_binary({principal, scopes, claims, sender, tenant})}
  end
end
