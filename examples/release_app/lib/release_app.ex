defmodule ReleaseApp do
  @moduledoc """
  An application whose release is an MCP server over stdio.

  `bin/release_app-mcp` of the release is the command that a client's configuration names. It
  runs `stdio/0`.
  """

  @doc """
  Serves one client until it closes its end, then halts the VM with status 0.

  `bin/release_app eval` starts no application, so this does.
  """
  @spec stdio() :: no_return()
  def stdio do
    {:ok, _started} = Application.ensure_all_started(:release_app)

    :ok =
      BeamMCP.Transport.Stdio.run(
        server_name: "release_app",
        catalog: ReleaseApp.Catalog,
        dispatch: &ReleaseApp.Tools.call/3
      )

    System.halt(0)
  end
end
