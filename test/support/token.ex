defmodule BeamMCP.Test.Token do
  @moduledoc "Access tokens of keys that a test makes itself, right or wrong in whatever way it wants."

  alias BeamMCP.Native
  alias BeamMCP.Test.JWS

  @issuer "https://auth.example.com"
  @resource "https://mcp.example.com/mcp"
  @now 1_800_000_000

  @doc "A key on P-256, with the name that its set gives it."
  def key(kid \\ "ours") do
    {point, secret} = :crypto.generate_key(:ecdh, :secp256r1)
    %{kid: kid, point: point, secret: secret}
  end

  @doc "The public half as a JSON Web Key."
  def jwk(%{point: <<4, x::binary-32, y::binary-32>>} = key),
    do: %{kty: "EC", crv: "P-256", kid: key.kid, x: JWS.base64(x), y: JWS.base64(y)}

  @doc "The key set of some keys, as JSON."
  def set(keys), do: json(%{keys: Enum.map(keys, &jwk/1)})

  @doc "What a right token says, changed."
  def claims(changes \\ %{}) do
    Map.merge(
      %{
        iss: @issuer,
        aud: @resource,
        sub: "ann",
        client_id: "app",
        jti: JWS.base64(:crypto.strong_rand_bytes(9)),
        iat: @now,
        exp: @now + 600,
        scope: "mcp:tools:read mcp:tools:call"
      },
      changes
    )
  end

  @doc "A token that the key signed; claims may be JSON text of the test's own."
  def sign(key, claims \\ claims(), header \\ %{}) do
    header = Map.merge(%{alg: "ES256", typ: "at+jwt", kid: key.kid}, header)
    JWS.sign({header, claims}, key.secret)
  end

  @doc "A token with an HMAC of these octets in place of a signature."
  def hmac(key, secret) do
    signed = JWS.input({%{alg: "HS256", typ: "at+jwt", kid: key.kid}, claims()})
    signed <> "." <> JWS.base64(:crypto.mac(:hmac, :sha256, secret, signed))
  end

  @doc "A token that nobody signed."
  def unsigned(alg), do: JWS.input({%{alg: alg, typ: "at+jwt"}, claims()}) <> "."

  @doc "The public half as a PEM file has it (RFC 5480 §2)."
  def pem(%{point: point}) do
    head = Base.decode16!("3059301306072A8648CE3D020106082A8648CE3D030107034200")
    lines = Regex.scan(~r/.{1,64}/, Base.encode64(head <> point))
    "-----BEGIN PUBLIC KEY-----\n#{Enum.join(lines, "\n")}\n-----END PUBLIC KEY-----\n"
  end

  defp json(term) do
    {:ok, text} = Native.encode(term)
    text
  end
end
