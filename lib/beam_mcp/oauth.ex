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
  then a DPoP proof is claimed. While a stream is open they are asked again, at least every 30 seconds.

  ## Options

  #{BeamMCP.Options.docs(:oauth)}

  ## Options of an issuer

  #{BeamMCP.Options.docs(:issuer)}

  ## Options of `{:introspect, url, options}`

  #{BeamMCP.Options.docs(:introspection)}

  An issuer that is asked about its tokens has the last word: signatures do not count, opaque tokens
  do. What it says must name `iss` and `aud` as a signed token would. It counts for as long as the
  token lives and 30 seconds at most, a refusal for five; many requests with one token ask once. While
  the issuer cannot be asked the answer is 503.
  """

  alias BeamMCP.{Handler, Native, OAuth, Options}
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
    :authorize_mount,
    :proofs,
    :introspects
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
          authorize_mount: Handler.t() | nil,
          # Whether proofs are read, and whether one is good once or once on each node.
          proofs: :unread | :once | :per_node,
          # The issuer that is asked about tokens.
          introspects: String.t() | nil
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
          clock: &monotonic_ms/0,
          proofs: proofs(options, path),
          introspects: introspects(issuers)
        })
        |> then(&struct!(__MODULE__, &1))

      {:error, {_kind, text}} ->
        raise ArgumentError, "option #{path}#{text}"
    end
  end

  @doc false
  # What runs for it while its listener is open.
  @spec processes(t()) :: [module()]
  def processes(oauth) do
    keys = if Enum.any?(oauth.sources, &(&1 != nil)), do: [OAuth.Keys], else: []
    if oauth.introspects, do: [OAuth.Introspection | keys], else: keys
  end

  defp issuer!(options, path) do
    issuer = Options.validate!(:issuer, options, path)

    Map.merge(issuer, %{
      keys: introspection!(issuer.keys, path, issuer.issuer),
      trust: trust!(issuer.cacertfile, path)
    })
  end

  defp introspection!({:introspect, url, options}, path, issuer),
    do: {:introspect, url, OAuth.Client.new!(options, path <> "keys.", issuer)}

  defp introspection!(keys, _path, _issuer), do: keys

  defp trust!(nil, _path), do: nil

  defp trust!(cacertfile, path) do
    case Native.trust(cacertfile) do
      {:ok, trust} -> trust
      {:error, {_kind, text}} -> raise ArgumentError, "option #{path}#{text}"
    end
  end

  defp native(options, issuers, known) do
    Map.merge(options, %{
      issuers: Enum.map(issuers, &native_issuer/1),
      audiences: options.audiences || [options.resource],
      serve_root_metadata: serve_root?(options.serve_root_metadata, known),
      dpop_nonce_secrets: nonce_secrets(options, known.secrets),
      settles: Enum.any?(@hooks, &(options[&1] != nil))
    })
  end

  defp native_issuer(%{keys: keys} = issuer),
    do: Map.merge(issuer, %{jwks: jwks(keys), introspection: introspection(keys)})

  defp jwks({:static, json}), do: json
  defp jwks(_fetched), do: nil

  defp introspection({:introspect, url, options}), do: Map.put(options, :url, url)
  defp introspection(_keys), do: nil

  defp source(%{keys: {:static, _json}}), do: nil
  defp source(%{keys: {:introspect, _url, _options}}), do: nil

  defp source(issuer) do
    %Source{
      issuer: issuer.issuer,
      keys: issuer.keys,
      allow_private?: issuer.allow_private_issuer,
      trust: issuer.trust
    }
  end

  defp proofs(%{dpop: :off}, _path), do: :unread
  defp proofs(%{replay: :once}, _path), do: :once
  defp proofs(%{replay: :per_node, dpop_nonce: :required}, _path), do: :per_node

  defp proofs(%{replay: :per_node}, path) do
    raise ArgumentError,
          "option #{path}replay: `:per_node` needs `dpop_nonce: :required`, so that a proof is not good for long"
  end

  defp introspects(issuers) do
    Enum.find_value(issuers, fn
      %{keys: {:introspect, _url, _options}, issuer: issuer} -> issuer
      _other -> nil
    end)
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
