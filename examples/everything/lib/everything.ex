defmodule Everything do
  @moduledoc """
  An MCP server with one tool, resource or prompt for each thing that such a one can do.

    * `Everything.Catalog` - what is offered, under which names and with which arguments
    * `Everything.Tools` - what the tools do
    * `Everything.Resources` - what is read, and what completes the template's variable
    * `Everything.Prompts` - what the prompts say
    * `Everything.Asking` - what needs the client: its user, its model, its directories
    * `Everything.Tasks` - what may outlive its request
    * `Everything.Apps` - what is shown as a page
    * `Everything.Media` - the picture and sound that some of them return
    * `Everything.CLI` - how `bin/serve` starts it

  Both transports share the same options; that is all a host writes.
  """

  @doc "The options that hold on every transport."
  @spec options() :: keyword()
  def options do
    [
      catalog: Everything.Catalog,
      dispatch: &Everything.Tools.call/3,
      server_name: "everything",
      server_title: "BeamMCP example server",
      instructions: "Everything here shows one feature. Start with the tool `greet`."
    ]
  end

  @doc """
  The child specification that serves HTTP on this machine only.

  An application lists it among the children of its supervisor.
  """
  @spec http(:inet.port_number()) :: Supervisor.child_spec()
  def http(port) do
    listener = [port: port, authorize: :none, allowed_origins: []]
    BeamMCP.child_spec(options() ++ [http: [listener]])
  end

  @doc "Serves one client over standard input and output until its input ends."
  @spec stdio() :: :ok | {:error, BeamMCP.Error.t()}
  def stdio, do: BeamMCP.Transport.Stdio.run(options())
end
