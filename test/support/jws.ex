defmodule BeamMCP.Test.JWS do
  @moduledoc "Signs with keys on P-256 whatever a test wants to be signed."

  @doc "The header and the claims of a recorded JWS."
  @spec read(String.t()) :: {header :: map(), claims :: map()}
  def read(jws) do
    [header, claims, _signature] = String.split(jws, ".")
    {decode(header), decode(claims)}
  end

  @doc """
  A JWS of this header and these claims, by a private key: its octets, or a JWK. Claims may be JSON text of
  the test's own.
  """
  @spec sign({header :: map(), claims :: map() | String.t()}, binary() | map()) :: String.t()
  def sign(parts, %{"crv" => "P-256", "d" => secret}),
    do: sign(parts, Base.url_decode64!(secret, padding: false))

  def sign(parts, secret) when is_binary(secret) do
    input = input(parts)
    der = :crypto.sign(:ecdsa, :sha256, input, [secret, :secp256r1])
    {:"ECDSA-Sig-Value", r, s} = :public_key.der_decode(:"ECDSA-Sig-Value", der)
    input <> "." <> base64(<<r::256, s::256>>)
  end

  @doc "What is signed of a header and claims."
  @spec input({map(), map() | String.t()}) :: String.t()
  def input({header, claims}), do: segment(header) <> "." <> segment(claims)

  @doc "base64url without padding."
  @spec base64(binary()) :: String.t()
  def base64(bytes), do: Base.url_encode64(bytes, padding: false)

  defp segment(text) when is_binary(text), do: base64(text)

  defp segment(map) do
    {:ok, json} = BeamMCP.Native.encode(map)
    base64(json)
  end

  defp decode(base64) do
    {:ok, term} = base64 |> Base.url_decode64!(padding: false) |> BeamMCP.Native.decode()
    term
  end
end
