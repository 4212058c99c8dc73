defmodule BeamMCP.Test.AccessToken do
  @moduledoc "Signs access tokens with the issuer's key of test/fixtures/auth, for whatever a test wants them to say."

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @kid "as-es256-1"
  @resource "https://mcp.example.com/mcp"
  @issuer "https://auth.example.com"

  @doc "`authorize: {:oauth, ..}` for its tokens, with `more` options."
  @spec authorize(keyword()) :: {:oauth, keyword()}
  def authorize(more \\ []) do
    jwks = File.read!(Path.join(@fixtures, "jwks.json"))
    issuer = [issuer: @issuer, keys: {:static, jwks}]
    {:oauth, [resource: @resource, dpop: :off, issuers: [issuer]] ++ more}
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

    header = segment(%{alg: "ES256", kid: @kid, typ: "at+jwt"})
    signed = header <> "." <> segment(Map.merge(usual, claims))
    signed <> "." <> encode(signature(signed))
  end

  @doc "The header of a request with such a token."
  @spec header([String.t()], map()) :: keyword()
  def header(scopes, claims \\ %{}), do: [authorization: "Bearer " <> sign(scopes, claims)]

  defp signature(signed) do
    der = :crypto.sign(:ecdsa, :sha256, signed, [key(), :secp256r1])
    # A sequence of two integers.
    <<0x30, _length, 0x02, r_bytes, r::binary-size(r_bytes), 0x02, s_bytes,
      s::binary-size(s_bytes)>> = der

    <<:binary.decode_unsigned(r)::256, :binary.decode_unsigned(s)::256>>
  end

  defp key do
    {:ok, keys} = @fixtures |> Path.join("keys.json") |> File.read!() |> BeamMCP.Native.decode()
    Base.url_decode64!(keys["private_jwk"][@kid]["d"], padding: false)
  end

  defp segment(map) do
    {:ok, json} = BeamMCP.Native.encode(map)
    encode(json)
  end

  defp encode(bytes), do: Base.url_encode64(bytes, padding: false)
end
