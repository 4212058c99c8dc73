defmodule BeamMCP.Identity do
  @moduledoc false
  # Who calls, as the native library keeps it: bytes that are compared for equality, and bytes that
  # come back with each call of the caller and become fields of its context.

  # A client inside the VM is known by the processes that it calls for, `{:callers, pids}`, which the
  # call's process takes over as its `$callers`: what is kept by process, as mocks and sandboxes of tests
  # are, is found there.

  @type encoded :: {principal :: binary(), identity :: binary()}

  @doc "The second of them for the sender of an access token whom the host names `principal`."
  @spec of_token(principal :: term(), BeamMCP.TokenFacts.t(), tenant :: term()) :: binary()
  def of_token(principal, facts, tenant) do
    :erlang.term_to_binary({principal, facts.scopes, facts.claims, facts.binding, tenant})
  end

  @spec encode(principal :: term(), scopes :: [String.t()] | nil, sender :: term()) :: encoded()
  def encode(principal, scopes \\ nil, sender \\ nil) do
    claims = tenant = nil
    {compared(principal), :erlang.term_to_binary({principal, scopes, claims, sender, tenant})}
  end

  @doc "The bytes of a principal that are compared."
  @spec compared(term()) :: binary()
  def compared(principal), do: :erlang.term_to_binary(principal, [:deterministic])

  @doc "The same, with `nil` for nobody in particular, however that came to be said."
  @spec principal(binary() | nil) :: binary() | nil
  def principal(compared), do: if(compared != compared(:anonymous), do: compared)
end
