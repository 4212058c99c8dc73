defmodule Protected.Issuer.Exchange do
  @moduledoc false
  # The token endpoint (OAuth 2.1 §3.2): a code or a refresh token for tokens.

  alias Protected.Issuer
  alias Protected.Issuer.{Answer, Key, Memory, Proof, Request, Token}

  @spec answer(Issuer.t(), Request.t()) :: Answer.t()
  def answer(issuer, request) do
    form = Request.parameters(request.body)

    with {:ok, jkt} <- Proof.check(issuer, request),
         {:ok, grant} <- redeem(issuer, form, jkt),
         :ok <- check_resource(grant, form) do
      Answer.json(200, tokens(issuer, grant))
    else
      {:error, code, text} -> Answer.error(code, text)
    end
  end

  # RFC 7636 §4.6. A code is spent even by a client that cannot prove that it is its own.
  defp redeem(issuer, %{"grant_type" => "authorization_code"} = form, jkt) do
    with {:ok, grant} <- Memory.take(issuer.memory, :code, form["code"]),
         true <- issuer.clock.() < grant.expires_s,
         true <- form["client_id"] == grant.client_id,
         true <- form["redirect_uri"] == grant.redirect_uri,
         true <- Key.encode(:crypto.hash(:sha256, form["code_verifier"] || "")) == grant.challenge do
      {:ok,
       %{client_id: grant.client_id, resource: grant.resource, scopes: grant.scopes, jkt: jkt}}
    else
      _wrong -> {:error, "invalid_grant", "The code is spent or too old, or another client's"}
    end
  end

  # RFC 9449 §5: a public client's refresh token stays with the key that it was given for.
  defp redeem(issuer, %{"grant_type" => "refresh_token"} = form, jkt) do
    with {:ok, grant} <- Memory.take(issuer.memory, :refresh, form["refresh_token"]),
         true <- form["client_id"] == grant.client_id,
         true <- jkt == grant.jkt,
         {:ok, scopes} <- narrow(grant.scopes, form["scope"]) do
      {:ok, %{grant | scopes: scopes}}
    else
      _wrong -> {:error, "invalid_grant", "The refresh token is spent, or another client's"}
    end
  end

  defp redeem(_issuer, _form, _jkt),
    do: {:error, "unsupported_grant_type", "authorization_code or refresh_token"}

  defp narrow(granted, nil), do: {:ok, granted}

  defp narrow(granted, asked) do
    scopes = String.split(asked)
    if scopes -- granted == [], do: {:ok, scopes}, else: :error
  end

  # RFC 8707 §2.2: for no other server than the one that was agreed to.
  defp check_resource(%{resource: resource}, %{"resource" => resource}), do: :ok
  defp check_resource(_grant, form) when not is_map_key(form, "resource"), do: :ok

  defp check_resource(_grant, _form),
    do: {:error, "invalid_target", "Another resource was granted"}

  defp tokens(issuer, grant) do
    %{
      access_token: Token.new(issuer, grant),
      token_type: if(grant.jkt, do: "DPoP", else: "Bearer"),
      expires_in: Token.ttl_s(),
      refresh_token: Memory.keep(issuer.memory, :refresh, grant),
      scope: Enum.join(grant.scopes, " ")
    }
  end
end
