defmodule BeamMCP.OAuth do
  @moduledoc """
  A listener as an OAuth 2.1 protected resource: `authorize: {:oauth, options}`.

      authorize:
        {:oauth,
         resource: "https://mcp.example.com/mcp",
         issuers: [
           [issuer: "https://auth.example.com", keys: {:static, File.read!("jwks.json")}]
         ]}

  Access tokens are JWTs that one of `issuers` signed for `resource` (RFC 9068). They come in the
  `Authorization` header and nowhere else, with a DPoP proof where they are bound to a key (RFC
  9449). Everything is checked natively, before the body is read; what is refused is answered with
  the challenge that MCP clients follow, and the log never holds a token. The metadata (RFC 9728)
  is served at `/.well-known/oauth-protected-resource` followed by the path of `resource`.

  A handler finds the caller in its `BeamMCP.Context`: `principal` is `{issuer, subject, client_id}`,
  `scopes` what was granted, `claims` what the token says, `sender` what binds it: `:bearer`, `:dpop`,
  `:mtls` or `:"dpop+mtls"`.

  ## Hooks

  `revocation`, `load_principal` and `authorize_mount` are asked in this order, once the token is
  found right and before the body is read, in a process of their own that has `hook_timeout_ms`;
  then a DPoP proof is claimed. While a stream is open they are asked again, at least every minute.

  ## Options

  #{BeamMCP.Options.docs(:oauth)}

  ## Options of an issuer

  #{BeamMCP.Options.docs(:issuer)}
  """

  alias BeamMCP.{Handler, Native, Options}
  alias BeamMCP.OAuth.Source

  @derive {Inspect, only: [:resource]}
  @enforce_keys [
    :resource,
    :guard,
    :sources,
    :clock,
    :mtls,
    :revocation,
    :load_principal,
    :authorize_mount
  ]
  defstruct @enforce_keys

  @hooks [:revocation, :load_principal, :authorize_mount]

  @typedoc "Options that were checked, and what checks tokens by them."
  @type t :: %__MODULE__{
          resource: String.t(),
          guard: Native.guard(),
          # For each issuer where its keys are fetched, or nil when they are fixed.
          sources: [Source.t() | nil],
          clock: (() -> integer()),
          mtls: {:tls} | {:trusted_proxy, [String.t()], String.t()} | nil,
          revocation: Handler.t() | nil,
          load_principal: Handler.t() | nil,
          authorize_mount: Handler.t() | nil
        }

  @doc false
  @spec new!(keyword(), String.t(), BeamMCP.Config.known()) :: t()
  def new!(options, path, known) do
    options = Options.validate!(:oauth, options, path)

    issuers =
      for {issuer, index} <- Enum.with_index(options.issuers),
          do: issuer!(issuer, "#{path}issuers[#{index}].")

    case Native.guard(native(options, issuers, known)) do
      {:ok, guard} ->
        options
        |> Map.take([:resource, :mtls | @hooks])
        |> Map.merge(%{
          guard: guard,
          sources: Enum.map(issuers, &source/1),
          clock: &monotonic_ms/0
        })
        |> then(&struct!(__MODULE__, &1))

      {:error, {_kind, text}} ->
        raise ArgumentError, "option #{path}#{text}"
    end
  end

  @doc false
  @spec fetches?(t()) :: boolean()
  def fetches?(oauth), do: Enum.any?(oauth.sources, &(&1 != nil))

  defp issuer!(options, path) do
    issuer = Options.validate!(:issuer, options, path)
    Map.put(issuer, :trust, trust!(issuer.cacertfile, path))
  end

  defp trust!(nil, _path), do: nil

  defp trust!(cacertfile, path) do
    case Native.trust(cacertfile) do
      {:ok, trust} -> trust
      {:error, {_kind, text}} -> raise ArgumentError, "option #{path}#{text}"
    end
  end

  defp native(options, issuers, known) do
    Map.merge(options, %{
      issuers: for(issuer <- issuers, do: Map.put(issuer, :jwks, jwks(issuer.keys))),
      audiences: options.audiences || [options.resource],
      serve_root_metadata: serve_root?(options.serve_root_metadata, known),
      dpop_nonce_secrets: nonce_secrets(options, known.secrets),
      settles: Enum.any?(@hooks, &(options[&1] != nil))
    })
  end

  defp jwks({:static, json}), do: json
  defp jwks(_fetched), do: nil

  defp source(%{keys: {:static, _json}}), do: nil

  defp source(issuer) do
    %Source{
      issuer: issuer.issuer,
      keys: issuer.keys,
      allow_private?: issuer.allow_private_issuer,
      trust: issuer.trust
    }
  end

  defp monotonic_ms, do: System.monotonic_time(:millisecond)

  defp serve_root?(nil, known), do: known.alone?
  defp serve_root?(given, _known), do: given

  defp nonce_secrets(%{dpop_nonce: :off}, _secrets), do: []
  defp nonce_secrets(%{dpop_nonce_secrets: [_ | _] = given}, _secrets), do: given
  defp nonce_secrets(_options, nil), do: [:crypto.strong_rand_bytes(32)]

  defp nonce_secrets(_options, secrets),
    do: for(secret <- secrets, do: :crypto.mac(:hmac, :sha256, secret, "beam_mcp dpop nonce v1"))
end
