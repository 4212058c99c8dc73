defmodule BeamMCP.Identity do
  @moduledoc false
  # Who calls, as the native library keeps it: bytes that are compared for equality, and bytes that
  # come back with each call of the caller and become fields of its context.

  @type encoded :: {principal :: binary(), identity :: binary()}

  @spec encode(principal :: term(), scopes :: [String.t()] | nil, sender :: term()) :: encoded()
  def encode(principal, scopes \\ nil, sender \\ nil) do
    claims = tenant = nil

    {:erlang.term_to_binary(principal, [:deterministic]),
     :erlang.term_to_binary({principal, scopes, claims, sender, tenant})}
  end
end
