defmodule Protected.Issuer.Registration do
  @moduledoc false
  # Dynamic registration (RFC 7591 §3): every client is a public one.

  alias BeamMCP.Native
  alias Protected.Issuer
  alias Protected.Issuer.{Answer, Memory, Request}

  @max_redirect_uris 8

  @spec answer(Issuer.t(), Request.t()) :: Answer.t()
  def answer(issuer, request) do
    with {:ok, %{"redirect_uris" => uris}} <- Native.decode(request.body),
         true <- is_list(uris) and length(uris) in 1..@max_redirect_uris,
         true <- Enum.all?(uris, &redirect_uri?/1) do
      Answer.json(201, %{
        client_id: Memory.keep(issuer.memory, :client, uris),
        redirect_uris: uris,
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"]
      })
    else
      _other ->
        Answer.error("invalid_redirect_uri", "Name redirect_uris: https, or on this machine")
    end
  end

  # RFC 8252 §7.3: http is for clients that listen on the user's own machine.
  defp redirect_uri?(text) when is_binary(text) do
    case URI.new(text) do
      {:ok, %URI{fragment: fragment}} when fragment != nil -> false
      {:ok, %URI{scheme: "https", host: host}} -> host not in [nil, ""]
      {:ok, %URI{scheme: "http", host: host}} -> host in ["127.0.0.1", "::1", "localhost"]
      _other -> false
    end
  end

  defp redirect_uri?(_other), do: false
end
