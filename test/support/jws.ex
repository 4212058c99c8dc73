defmodule BeamMCP.Test.JWS do
  @moduledoc "Signs with the recorded keys of test/fixtures/auth what was recorded, with other claims."

  @doc "The header and the claims of a recorded JWS."
  @spec read(String.t()) :: {header :: map(), claims :: map()}
  def read(jws) do
    [header, claims, _signature] = String.split(jws, ".")
    {decode(header), decode(claims)}
  end

  @doc "A JWS of this header and these claims, by a private JWK of P-256."
  @spec sign({header :: map(), claims :: map()}, map()) :: String.t()
  def sign({header, claims}, %{"crv" => "P-256", "d" => secret}) do
    input = encode(header) <> "." <> encode(claims)
    secret = Base.url_decode64!(secret, padding: false)
    der = :crypto.sign(:ecdsa, :sha256, input, [secret, :secp256r1])
    {:"ECDSA-Sig-Value", r, s} = :public_key.der_decode(:"ECDSA-Sig-Value", der)
    input <> "." <> base64(<<r::256, s::256>>)
  end

  @doc "base64url without padding."
  @spec base64(binary()) :: String.t()
  def base64(bytes), do: Base.url_encode64(bytes, padding: false)

  defp encode(term) do
    {:ok, json} = BeamMCP.Native.encode(term)
    base64(json)
  end

  defp decode(base64) do
    {:ok, term} = base64 |> Base.url_decode64!(padding: false) |> BeamMCP.Native.decode()
    term
  end
end
