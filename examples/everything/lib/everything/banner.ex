defmodule Everything.Banner do
  @moduledoc "What a person needs to try the server."

  @request """
  {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"world"},\
  "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}\
  """

  @doc "The URL, a call to try, and the configuration of a client that starts its own server."
  @spec text(String.t(), String.t()) :: String.t()
  def text(url, command) do
    """
    The example server listens on #{url} (Ctrl-C ends it).

    Call a tool:

      #{curl(url)}

    Or let a client start its own server over stdio:

      {"mcpServers": {"everything": {"command": "#{command}", "args": ["--stdio"]}}}
    """
  end

  # The standard request headers repeat what the body says (MCP 2026-07-28 basic/transports).
  defp curl(url) do
    headers = [
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      "MCP-Protocol-Version: 2026-07-28",
      "Mcp-Method: tools/call",
      "Mcp-Name: greet"
    ]

    "curl -s #{url} " <> Enum.map_join(headers, " ", &"-H '#{&1}'") <> " -d '#{@request}'"
  end
end
