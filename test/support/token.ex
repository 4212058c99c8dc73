defmodule BeamMCP.Test.Token do
  @moduledoc "Access tokens of keys that a test makes itself, right or wrong in whatever way it wants."

  alias BeamMCP.Native

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
    do: %{kty: "EC", crv: "P-256", kid: key.kid, x: encode(x), y: encode(y)}

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
        jti: encode(:crypto.strong_rand_bytes(9)),
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
    signed = segment(header) <> "." <> segment(claims)
    signature = raw(:crypto.sign(:ecdsa, :sha256, signed, [key.secret, :secp256r1]))
    signed <> "." <> encode(signature)
  end

  @doc "A token with an HMAC of these octets in place of a signature."
  def hmac(key, secret) do
    signed = segment(%{alg: "HS256", typ: "at+jwt", kid: key.kid}) <> "." <> segment(claims())
    signed <> "." <> encode(:crypto.mac(:hmac, :sha256, secret, signed))
  end

  @doc "A token that nobody signed."
  def unsigned(alg), do: segment(%{alg: alg, typ: "at+jwt"}) <> "." <> segment(claims()) <> "."

  @doc "The public half as a PEM file has it (RFC 5480 §2)."
  def pem(%{point: point}) do
    head = Base.decode16!("3059301306072A8648CE3D020106082A8648CE3D030107034200")
    lines = Regex.scan(~r/.{1,64}/, Base.encode64(head <> point))
    "-----BEGIN PUBLIC KEY-----\n#{Enum.join(lines, "\n")}\n-----END PUBLIC KEY-----\n"
  end

  # The two numbers, without the frame that ASN.1 puts around them.
  defp raw(<<0x30, _all, 0x02, size, r::binary-size(size), 0x02, _size, s::binary>>) do
    [r, s] = Enum.map([r, s], &:binary.decode_unsigned/1)
    <<r::256, s::256>>
  end

  defp segment(text) when is_binary(text), do: encode(text)
  defp segment(members), do: encode(json(members))

  defp json(term) do
    {:ok, text} = Native.encode(term)
    text
  end

  defp encode(bytes), do: Base.url_encode64(bytes, padding: false)
end
