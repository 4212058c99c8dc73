defmodule BeamMCP.Identity do
  @moduledoc false
  # Who calls, as the native library keeps it: bytes that are compared for equality, and bytes that
  # come back with each call of the caller and become fields of its context.

  # A client inside the VM is known by the processes that it calls for, `{:callers, pids}`, which the
  # call's process takes over as its `$callers`: what is kept by process, as mocks and sandboxes of tests
  # are, is found there.

  @type encoded :: {principal :: binary(), identity :: binary()}

  @spec encode(principal :: term(), scopes :: [String.t()] | nil, sender :: term()) :: encoded()
  def encode(principal, scopes \\ nil, sender \\ nil) do
    claims = tenant = nil

    {:erlang.term_to_binary(principal, [:deterministic]),
     :erlang.term_to_binary({principal, scopes, claims, sender, tenant})}
  end
end
