defmodule Protected.Issuer.Proof do
  @moduledoc false
  # The DPoP proof of a token request (RFC 9449 §4.3, §5).

  alias Protected.Issuer
  alias Protected.Issuer.{Key, Memory, Request}

  # By how much clocks may differ, and how old a proof may be.
  @window_s 60

  @doc "The thumbprint of the key that the token is for, or `nil` without a proof."
  @spec check(Issuer.t(), Request.t()) ::
          {:ok, String.t() | nil} | {:error, code :: String.t(), text :: String.t()}
  def check(issuer, request) do
    case Request.header(request, "dpop") do
      [] -> {:ok, nil}
      [proof] -> check_proof(issuer, proof)
      _several -> refuse()
    end
  end

  defp check_proof(issuer, proof) do
    with {:ok, %{"typ" => "dpop+jwt"}, claims, jkt} <- Key.open(proof),
         true <- claims["htm"] == "POST",
         true <- claims["htu"] == issuer.url <> "/token",
         true <- recent?(claims["iat"], issuer.clock.()),
         true <- is_binary(claims["jti"]),
         true <- Memory.add(issuer.memory, :proof, jkt <> claims["jti"], true) do
      {:ok, jkt}
    else
      _wrong -> refuse()
    end
  end

  defp recent?(iat, now), do: is_integer(iat) and abs(now - iat) <= @window_s

  defp refuse, do: {:error, "invalid_dpop_proof", "The DPoP proof is not valid for this request"}
end
