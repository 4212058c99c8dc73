defmodule BeamMCP.Test.Client do
  @moduledoc """
  A client that `BeamMCP.Test` connected.

    * `instance` - the name of the instance that it talks to, for `BeamMCP.register_tool/3` and
      the like
    * `revision` - the protocol revision that it speaks

  Notifications arrive with it, so a test can pin it: `assert_received {:mcp, ^client, _, _}`.
  """

  @enforce_keys [:pid, :instance, :revision]
  defstruct @enforce_keys

  @typedoc "A client."
  @type t :: %__MODULE__{pid: pid(), instance: BeamMCP.name(), revision: String.t()}

  defimpl Inspect do
    def inspect(client, _opts),
      do: "#BeamMCP.Test.Client<#{client.revision} #{inspect(client.pid)}>"
  end
end
