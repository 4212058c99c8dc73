defmodule Protected.Issuer.Endpoints do
  @moduledoc false
  # The URLs of an issuer.

  alias Protected.Issuer
  alias Protected.Issuer.{Answer, Authorization, Exchange, Key, Registration, Request}

  # RFC 8414 §3, and where OpenID Connect Discovery has it.
  @metadata_paths ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]

  @spec answer(Issuer.t(), Request.t()) :: Answer.t()
  def answer(issuer, %{method: "GET", path: path}) when path in @metadata_paths,
    do: Answer.json(200, metadata(issuer))

  def answer(issuer, %{method: "GET", path: "/jwks"}),
    do: Answer.json(200, %{keys: [Key.public(issuer.key)]})

  def answer(issuer, %{method: "POST", path: "/register"} = request),
    do: Registration.answer(issuer, request)

  def answer(issuer, %{method: "GET", path: "/authorize"} = request),
    do: Authorization.answer(issuer, request)

  def answer(issuer, %{method: "POST", path: "/token"} = request),
    do: Exchange.answer(issuer, request)

  def answer(_issuer, _request), do: {404, [], ""}

  defp metadata(issuer) do
    %{
      issuer: issuer.url,
      authorization_endpoint: issuer.url <> "/authorize",
      token_endpoint: issuer.url <> "/token",
      registration_endpoint: issuer.url <> "/register",
      jwks_uri: issuer.url <> "/jwks",
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: ["none"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      dpop_signing_alg_values_supported: ["ES256"]
    }
  end
end
