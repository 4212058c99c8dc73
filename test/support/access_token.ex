defmodule BeamMCP.Test.AccessToken do
  @moduledoc "Signs access tokens with the issuer's key of test/fixtures/auth, for whatever a test wants them to say."

  alias BeamMCP.Test.{JWS, Vectors}

  @kid "as-es256-1"
  @resource "https://mcp.example.com/mcp"
  @issuer "https://auth.example.com"

  @doc "`authorize: {:oauth, ..}` for its tokens, with `more` options."
  @spec authorize(keyword()) :: {:oauth, keyword()}
  def authorize(more \\ []) do
    issuer = [issuer: @issuer, keys: {:static, Vectors.read("jwks.json")}]
    {:oauth, Keyword.merge([resource: @resource, dpop: :off, issuers: [issuer]], more)}
  end

  @doc "A token that grants `scopes`; `claims` replace its own."
  @spec sign([String.t()], map()) :: String.t()
  def sign(scopes, claims \\ %{}) do
    now = System.os_time(:second)

    usual = %{
      iss: @issuer,
      aud: @resource,
      sub: "ann",
      client_id: "client",
      jti: "jti-#{System.unique_integer()}",
      iat: now,
      exp: now + 600,
      scope: Enum.join(scopes, " ")
    }

    JWS.sign({%{alg: "ES256", kid: @kid, typ: "at+jwt"}, Map.merge(usual, claims)}, key())
  end

  @doc "The header of a request with such a token."
  @spec header([String.t()], map()) :: keyword()
  def header(scopes, claims \\ %{}), do: [authorization: "Bearer " <> sign(scopes, claims)]

  defp key, do: Vectors.load("keys.json")["private_jwk"][@kid]
end
