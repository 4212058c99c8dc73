defmodule Protected.Issuer.Authorization do
  @moduledoc false
  # The authorization endpoint (OAuth 2.1 §4.1): a real one would now ask its user.

  alias Protected.Issuer
  alias Protected.Issuer.{Answer, Memory, Request}

  # A client that is sent back goes on at once (RFC 6749 §4.1.2).
  @code_ttl_s 60

  @spec answer(Issuer.t(), Request.t()) :: Answer.t()
  def answer(issuer, request) do
    asked = Request.parameters(request.query)

    case redirect_uri(issuer, asked) do
      {:ok, uri} -> redirect(issuer, uri, asked, decide(issuer, asked))
      # Nobody is sent to a place that the client did not register (RFC 6749 §4.1.2.1).
      :error -> Answer.error("invalid_request", "Unknown client_id or redirect_uri")
    end
  end

  defp redirect_uri(issuer, %{"client_id" => client, "redirect_uri" => uri}) do
    with {:ok, uris} <- Memory.fetch(issuer.memory, :client, client),
         true <- uri in uris do
      {:ok, uri}
    else
      _unknown -> :error
    end
  end

  defp redirect_uri(_issuer, _asked), do: :error

  defp decide(issuer, asked) do
    with :ok <- check_code(asked), :ok <- check_challenge(asked), :ok <- check_resource(asked) do
      grant = %{
        client_id: asked["client_id"],
        redirect_uri: asked["redirect_uri"],
        challenge: asked["code_challenge"],
        resource: asked["resource"],
        scopes: String.split(asked["scope"] || ""),
        expires_s: issuer.clock.() + @code_ttl_s
      }

      [code: Memory.keep(issuer.memory, :code, grant)]
    end
  end

  defp check_code(%{"response_type" => "code"}), do: :ok
  defp check_code(_asked), do: [error: "unsupported_response_type"]

  # RFC 7636 §4.3; a plain challenge proves nothing.
  defp check_challenge(%{"code_challenge" => <<_::binary-43>>, "code_challenge_method" => "S256"}),
    do: :ok

  defp check_challenge(_asked),
    do: [error: "invalid_request", error_description: "code_challenge with S256 is needed"]

  # RFC 8707 §2: an absolute URI without a fragment.
  defp check_resource(asked) do
    case URI.parse(asked["resource"] || "") do
      %URI{scheme: scheme, host: host, fragment: nil} when scheme != nil and host != nil -> :ok
      _other -> [error: "invalid_target", error_description: "resource names the server"]
    end
  end

  # RFC 9207 §2: the client is told whose response this is.
  defp redirect(issuer, uri, asked, outcome) do
    state = if asked["state"], do: [state: asked["state"]], else: []
    Answer.redirect(uri, outcome ++ state ++ [iss: issuer.url])
  end
end
