defmodule Protected do
  @moduledoc """
  An MCP server that wants an OAuth access token with each request, and an issuer to try it with.

    * `Protected.Catalog` - what is offered, and which scopes each tool needs
    * `Protected.Tools` - what the tools do, for whom
    * `Protected.Notes` - what they share
    * `Protected.Issuer` - gives tokens to whoever asks: for tests, and for nothing else
    * `Protected.Certificates` - what both need to speak TLS
    * `Protected.CLI` - how `bin/serve --protected` starts all that

  What follows is all that a host writes; with an identity provider of your own, only the URLs
  differ.
  """

  alias Protected.Certificates

  @basic_scopes ["mcp:tools:read", "mcp:tools:call"]

  @doc """
  The child specification of the server whose clients know it as `resource`, and which believes the
  tokens of `issuer`; over TLS with certificates, which the issuer has too.
  """
  @spec server(resource :: String.t(), issuer :: String.t(), Certificates.t() | nil) ::
          Supervisor.child_spec()
  def server(resource, issuer, certificates) do
    authority = certificates && certificates.cacertfile

    protected = [
      resource: resource,
      issuers: [[issuer: issuer, keys: {:discover, issuer}, cacertfile: authority]],
      scopes_supported: @basic_scopes,
      resource_name: "BeamMCP example server"
    ]

    listener = [
      port: URI.parse(resource).port,
      authorize: {:oauth, protected},
      allowed_origins: [],
      tls: tls(certificates)
    ]

    BeamMCP.child_spec(
      catalog: Protected.Catalog,
      dispatch: &Protected.Tools.call/3,
      server_name: "protected",
      server_title: "BeamMCP protected example server",
      audit: &BeamMCP.AuditLog.log/1,
      http: [listener]
    )
  end

  @doc "The scopes with which the server can be used at all."
  @spec basic_scopes() :: [String.t()]
  def basic_scopes, do: @basic_scopes

  defp tls(nil), do: nil
  defp tls(certificates), do: [certfile: certificates.certfile, keyfile: certificates.keyfile]
end
