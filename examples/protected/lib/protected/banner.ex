defmodule Protected.Banner do
  @moduledoc "What a person needs to try the server."

  alias Protected.{Certificates, Issuer}

  @meta ~s("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",) <>
          ~s("io.modelcontextprotocol/clientCapabilities":{}})

  @doc "The URLs, a token, and a call for each answer that there is to see."
  @spec text(resource :: String.t(), Issuer.t(), Certificates.t() | nil) :: String.t()
  def text(resource, issuer, certificates) do
    token = token(resource, issuer)
    curl = "curl -s#{trust(certificates)} #{resource}"

    """
    The protected example server listens on #{resource} (Ctrl-C ends it).

    Its issuer is for tests only: it gives tokens to whoever asks. It is at #{issuer.url}.

    Call a tool without an access token, and be told where to get one (401):

      #{call(curl, "whoami", "{}", ["-i"])}

    Call it with one, which is good for an hour:

      #{call(curl, "whoami", "{}", bearer(token))}

    Call a tool that needs a scope more, and be told which (403):

      #{call(curl, "write_note", ~s({"text":"Hello"}), ["-i" | bearer(token)])}

    MCP clients do all of that by themselves: give them the URL#{authority(certificates)}.

    The token:

      #{token}
    """
  end

  defp token(resource, issuer) do
    grant = %{client_id: "curl", resource: resource, scopes: Protected.basic_scopes(), jkt: nil}
    Issuer.Token.new(issuer, grant)
  end

  defp authority(nil), do: ""

  defp authority(certificates),
    do: " and the authority that made both certificates, #{certificates.cacertfile}"

  defp trust(nil), do: ""
  defp trust(certificates), do: " --cacert #{certificates.cacertfile}"

  defp bearer(token), do: ["-H 'Authorization: Bearer #{token}'"]

  # The standard request headers repeat what the body says (MCP 2026-07-28 basic/transports).
  defp call(curl, tool, arguments, more) do
    headers = [
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      "MCP-Protocol-Version: 2026-07-28",
      "Mcp-Method: tools/call",
      "Mcp-Name: #{tool}"
    ]

    params = ~s({"name":"#{tool}","arguments":#{arguments},#{@meta}})
    body = ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":#{params}})
    words = more ++ Enum.map(headers, &"-H '#{&1}'") ++ ["-d '#{body}'"]
    Enum.join([curl | words], " ")
  end
end
