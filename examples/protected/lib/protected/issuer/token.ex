defmodule Protected.Issuer.Token do
  @moduledoc false
  # Access tokens as RFC 9068 wants them.

  alias Protected.Issuer
  alias Protected.Issuer.Key

  @type grant :: %{
          client_id: String.t(),
          resource: String.t(),
          scopes: [String.t()],
          # The thumbprint of the key that the token is bound to (RFC 9449 §6).
          jkt: String.t() | nil
        }

  @user "alice"
  @ttl_s 3_600

  @doc "How long a token is good."
  @spec ttl_s() :: pos_integer()
  def ttl_s, do: @ttl_s

  @spec new(Issuer.t(), grant()) :: String.t()
  def new(issuer, grant) do
    now = issuer.clock.()

    claims = %{
      iss: issuer.url,
      aud: grant.resource,
      sub: @user,
      client_id: grant.client_id,
      scope: Enum.join(grant.scopes, " "),
      iat: now,
      exp: now + @ttl_s,
      jti: Key.encode(:crypto.strong_rand_bytes(12))
    }

    header = %{alg: "ES256", typ: "at+jwt", kid: issuer.key.id}
    Key.sign(issuer.key, header, bind(claims, grant.jkt))
  end

  defp bind(claims, nil), do: claims
  defp bind(claims, jkt), do: Map.put(claims, :cnf, %{jkt: jkt})
end
