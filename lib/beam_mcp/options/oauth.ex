defmodule BeamMCP.Options.OAuth do
  @moduledoc """
  The options of `authorize: {:oauth, options}` (`BeamMCP.OAuth`), and of its issuers.
  """

  import BeamMCP.Options.Row

  alias BeamMCP.Options.{Check, Row}

  @named "itself, `{module, function}`, or `{module, function, extra_arguments}` with a list"

  @doc "The rows of a protected resource."
  @spec resource() :: [Row.t()]
  def resource, do: metadata() ++ tokens() ++ proofs() ++ hooks()

  @doc "The rows of one issuer."
  @spec issuer() :: [Row.t()]
  def issuer do
    [
      row(
        :issuer,
        :string,
        :required,
        "The identifier, byte for byte as `iss` of its tokens says it"
      ),
      row(
        :keys,
        {:custom, &Check.keys/1,
         "`{:jwks_uri, url}`, `{:discover, issuer}`, `{:static, jwks}` with a key set as JSON text or map, or `{:introspect, url, options}`"},
        :required,
        "Where its public keys are: at a URL, https or on this machine; where its metadata says; or here, and never fetched. Or the URL where it is asked about each token (RFC 7662), see below; one issuer may be"
      ),
      row(
        :allow_private_issuer,
        :boolean,
        false,
        "Permits to fetch from a host whose address is not reachable from everywhere"
      ),
      row(
        :cacertfile,
        {:optional, :string},
        nil,
        "Authorities in PEM that the certificate of the host must be of, and no others; `nil` stands for those of the system. Read at start"
      ),
      row(
        :algs,
        {:custom, &Check.strings/1, "a list of algorithm names"},
        ~w(ES256 RS256 PS256 EdDSA Ed25519),
        "Algorithms of its tokens; ES384, ES512, RS384, RS512, PS384 and PS512 are known too"
      ),
      row(
        :client_id_claims,
        {:custom, &Check.strings/1, "a list of strings"},
        ["client_id"],
        "Where the client's id is; the first claim that is there counts"
      ),
      row(
        :scope_claims,
        {:custom, &Check.strings/1, "a list of strings"},
        ["scope"],
        "Where scopes are; every claim counts. All but `scope` may be arrays"
      )
    ]
  end

  @doc "The rows of `{:introspect, url, options}`."
  @spec introspection() :: [Row.t()]
  def introspection do
    [
      row(:client_id, :string, :required, "Who asks: this server as a client of the issuer"),
      row(
        :client_secret,
        {:optional,
         {:custom, &Check.secret/1, "a string, or a function of no arguments that returns one"}},
        nil,
        "Its secret (`client_secret_basic`). This or `client_key` is given",
        secret: true
      ),
      row(
        :client_key,
        {:optional,
         {:custom, &Check.pem/1,
          "`{:file, path}`, PEM text, or a function of no arguments that returns such text"}},
        nil,
        "Its private key (`private_key_jwt`, RFC 7523): RSA of 2,048 to 4,096 bits, P-256 or Ed25519, in PKCS#8 or PKCS#1. Read at start; each question has an assertion of its own, good for a minute",
        secret: true
      ),
      row(
        :alg,
        {:optional, :string},
        {:described, "`\"ES256\"`, `\"EdDSA\"` or `\"RS256\"`, by the key"},
        "The algorithm of assertions; an RSA key signs by `\"PS256\"` too"
      ),
      row(:kid, {:optional, :string}, nil, "The key's name at the issuer, where it has one"),
      row(
        :assertion_audience,
        {:optional, :string},
        {:described, "`issuer`"},
        "`aud` of assertions: some issuers go by the URL of an endpoint of theirs"
      ),
      row(
        :allow_unbounded_introspection,
        :boolean,
        false,
        "Whether a token is accepted of which the issuer says no end"
      )
    ]
  end

  defp metadata do
    [
      row(
        :resource,
        :string,
        :required,
        "The public URL of the endpoint, spelled as clients spell it: `https://mcp.example.com/mcp`. http is for loopback hosts alone"
      ),
      row(
        :issuers,
        {:custom, &Check.issuers/1, "a list of 1 to 8 keyword lists"},
        :required,
        "The authorization servers whose tokens are accepted, see below"
      ),
      row(
        :scopes_supported,
        {:custom, &Check.strings/1, "a list of strings"},
        [],
        "What the metadata tells of scopes: those for basic use, never `offline_access`"
      ),
      optional_string(:resource_name, "`resource_name` of the metadata, for people"),
      optional_string(:resource_documentation, "`resource_documentation` of the metadata, a URL"),
      optional_string(:resource_policy_uri, "`resource_policy_uri` of the metadata"),
      optional_string(:resource_tos_uri, "`resource_tos_uri` of the metadata"),
      row(
        :serve_root_metadata,
        {:optional, :boolean},
        {:described, "`true` when the instance has one listener"},
        "Whether `/.well-known/oauth-protected-resource` answers too, where clients look that were told nothing"
      )
    ]
  end

  defp tokens do
    [
      row(
        :audiences,
        {:optional, {:custom, &Check.strings/1, "a list of strings"}},
        {:described, "`[resource]`"},
        "What `aud` may name, exact strings"
      ),
      row(
        :aud_mode,
        {:one_of, [:any, :all]},
        :any,
        "Whether one known audience suffices or every audience of a token must be known"
      ),
      row(
        :accept_typ,
        {:custom, &Check.strings/1, "a list of strings"},
        ["at+jwt"],
        "What `typ` of a token may be. `\"JWT\"`, and `\"\"` for none, are for issuers that do not follow RFC 9068, and weaker: an ID token may then pass"
      ),
      count(:leeway_s, 30, 0, 300, "Seconds by which clocks may differ"),
      row(
        :max_token_age_s,
        {:optional, {:integer, 1, 31_536_000}},
        nil,
        "Seconds since `iat` after which a token counts as expired"
      ),
      row(
        :required_claims,
        {:custom, &Check.strings/1, "a list of strings"},
        ~w(iss aud exp iat sub client_id jti),
        "Claims that a token must have; `iss`, `aud`, `exp` and `sub` cannot be left out, `client_id` is any of `client_id_claims`"
      ),
      count(
        :auth_failures_per_minute,
        120,
        1,
        1_000_000,
        "Requests of one address that show credentials which are not right; over it every request of that address with or without a token is 429 before anything is verified. Of IPv6 an address is its /64; behind a proxy see `trusted_proxies`"
      ),
      bytes_up_to(:max_token_bytes, 16_384, 1_024, 65_536, "A token; over it 401"),
      row(
        :now_s,
        {:optional, {:integer, 0, 253_402_300_799}},
        nil,
        "For tests: the second of the wall clock at which every token is judged; `nil` is now"
      )
    ]
  end

  defp proofs do
    [
      row(
        :dpop,
        {:one_of, [:off, :optional, :required]},
        :optional,
        "Whether DPoP proofs are read (RFC 9449), and whether each token must be bound to a key"
      ),
      row(
        :dpop_algs,
        {:custom, &Check.strings/1, "a list of algorithm names"},
        ~w(ES256 RS256 PS256 EdDSA Ed25519),
        "Algorithms of proofs"
      ),
      row(
        :dpop_nonce,
        {:one_of, [:off, :required]},
        :off,
        "Whether a proof must have a nonce of ours"
      ),
      row(
        :replay,
        {:one_of, [:once, :per_node]},
        :once,
        "Of an instance that is `clustered`: whether a proof is good once, or once on each node, which takes `dpop_nonce: :required`"
      ),
      row(
        :dpop_nonce_secrets,
        {:optional, {:custom, &Check.secrets/1, "a list of binaries of at least 32 octets"}},
        {:described, "derived from `secrets` of the instance, or random at start"},
        "What nonces are made with, newest first; share them between nodes",
        secret: true
      ),
      row(
        :mtls,
        {:optional,
         {:custom, &Check.mtls/1,
          "`{:tls}` or `{:trusted_proxy, networks, header}` with networks such as `\"10.0.0.0/8\"`, or `:unix`"}},
        nil,
        "Where the client's certificate is that a token may be bound to (RFC 8705): in the listener's own TLS, or in a header such as `\"client-cert\"` (RFC 9440) of proxies in these networks, which nobody else is believed. `nil` refuses such tokens"
      )
    ]
  end

  defp hooks do
    [
      hook(
        :revocation,
        1,
        "Called with the `BeamMCP.TokenFacts` of each request: `:active` or `:revoked` (401). What it raises is 503"
      ),
      hook(
        :load_principal,
        1,
        "Called with the `BeamMCP.TokenFacts`: `{:ok, principal}`, `{:ok, principal, tenant: .., binding_key: ..}` or `:unknown` (401). What it raises is 503"
      ),
      hook(
        :authorize_mount,
        2,
        "Called with the principal and the `BeamMCP.Request` without its credentials: `:ok` or `:deny` (403). What it raises is 403"
      )
    ]
  end

  defp hook(key, arity, doc) do
    legal =
      "an existing function of #{arity} #{if arity == 1, do: "argument", else: "arguments"}: #{@named}"

    row(key, {:optional, {:custom, Check.hook_of(arity), legal}}, nil, doc)
  end

  defp bytes_up_to(key, default, min, max, doc), do: row(key, {:integer, min, max}, default, doc)

  defp optional_string(key, doc), do: row(key, {:optional, :string}, nil, doc)
end
