defmodule Protected.Issuer.Key do
  @moduledoc false
  # Keys on P-256, as JSON Web Keys say them (RFC 7518 §6.2), and the ES256 signatures made with them.

  alias BeamMCP.Native

  @derive {Inspect, only: [:id]}
  @enforce_keys [:id, :point, :secret]
  defstruct @enforce_keys

  @type t :: %__MODULE__{id: String.t(), point: binary(), secret: binary()}

  @spec generate() :: t()
  def generate do
    {point, secret} = :crypto.generate_key(:ecdh, :secp256r1)
    %__MODULE__{id: thumbprint(point), point: point, secret: secret}
  end

  @doc "The public half."
  @spec public(t()) :: map()
  def public(key),
    do: Map.merge(members(key.point), %{kid: key.id, alg: "ES256", use: "sig"})

  @doc "A compact JWS (RFC 7515 §3.1) over claims."
  @spec sign(t(), header :: map(), claims :: map()) :: String.t()
  def sign(key, header, claims) do
    signed = segment(header) <> "." <> segment(claims)
    der = :crypto.sign(:ecdsa, :sha256, signed, [key.secret, :secp256r1])
    {:"ECDSA-Sig-Value", r, s} = :public_key.der_decode(:"ECDSA-Sig-Value", der)
    signed <> "." <> encode(<<r::256, s::256>>)
  end

  @doc "Header and claims of a JWS that the key in its own header signed, and the key's thumbprint."
  @spec open(String.t()) ::
          {:ok, header :: map(), claims :: map(), thumbprint :: String.t()} | :error
  def open(jws) do
    with [header, claims, signature] <- String.split(jws, "."),
         {:ok, %{"alg" => "ES256", "jwk" => jwk} = read} <- parse(header),
         {:ok, point} <- point(jwk),
         {:ok, <<r::256, s::256>>} <- decode(signature),
         der = :public_key.der_encode(:"ECDSA-Sig-Value", {:"ECDSA-Sig-Value", r, s}),
         true <- verify(header <> "." <> claims, der, point),
         {:ok, claims} <- parse(claims) do
      {:ok, read, claims, thumbprint(point)}
    else
      _malformed_or_forged -> :error
    end
  end

  @doc "Base64url without padding."
  @spec encode(binary()) :: String.t()
  def encode(bytes), do: Base.url_encode64(bytes, padding: false)

  # RFC 7638 §3: the members that make the key, sorted, without spaces.
  defp thumbprint(point) do
    %{x: x, y: y} = members(point)
    encode(:crypto.hash(:sha256, ~s({"crv":"P-256","kty":"EC","x":"#{x}","y":"#{y}"})))
  end

  defp members(<<4, x::binary-32, y::binary-32>>),
    do: %{kty: "EC", crv: "P-256", x: encode(x), y: encode(y)}

  defp point(%{"kty" => "EC", "crv" => "P-256", "x" => x, "y" => y}) do
    with {:ok, <<x::binary-32>>} <- decode(x), {:ok, <<y::binary-32>>} <- decode(y) do
      {:ok, <<4, x::binary, y::binary>>}
    end
  end

  defp point(_other), do: :error

  # A point that is not on the curve is an error of the library's.
  defp verify(signed, der, point) do
    :crypto.verify(:ecdsa, :sha256, signed, der, [point, :secp256r1])
  rescue
    ErlangError -> false
  end

  defp segment(members) do
    {:ok, json} = Native.encode(members)
    encode(json)
  end

  defp parse(segment) do
    with {:ok, json} <- decode(segment), {:ok, %{} = members} <- Native.decode(json) do
      {:ok, members}
    end
  end

  defp decode(text) when is_binary(text), do: Base.url_decode64(text, padding: false)
  defp decode(_other), do: :error
end
