defmodule BeamMCP.Options.HTTP do
  @moduledoc """
  The options of a listener, `BeamMCP.Transport.HTTP`.
  """

  import BeamMCP.Options.Row

  alias BeamMCP.Options.{Check, Row}

  @named "itself, `{module, function}`, or `{module, function, extra_arguments}` with a list"

  @doc "The rows of a listener."
  @spec rows() :: [Row.t()]
  def rows, do: policy() ++ address() ++ limits()

  @doc "The rows of its TLS."
  @spec tls() :: [Row.t()]
  def tls do
    [
      row(
        :certfile,
        :string,
        :required,
        "The certificate in PEM, followed by those that lead from it to a root"
      ),
      row(
        :keyfile,
        :string,
        :required,
        "Its private key in PEM, not encrypted: RSA, P-256, P-384 or Ed25519"
      ),
      row(
        :client_certificates,
        {:one_of, [:off, :requested, :required]},
        :off,
        "Whether clients are asked for a certificate, and served without one"
      ),
      row(
        :cacertfile,
        {:optional, :string},
        nil,
        "Authorities in PEM that a client's certificate must be of. `nil` admits every certificate whose key the client has, a self-signed one too: its thumbprint tells whose it is"
      )
    ]
  end

  defp policy do
    [
      row(
        :authorize,
        {:custom, &Check.authorize/1,
         "`:none`, an existing function of 1 argument: #{@named}, or `{:oauth, options}`"},
        :required,
        "Decides from the `BeamMCP.Request`, before the body is read, who calls; `{:oauth, options}` checks access tokens, see `BeamMCP.OAuth`"
      ),
      row(
        :allowed_origins,
        {:custom, &Check.origins/1,
         "`:any` or a list of origins such as `\"https://app.example.com\"`, in small letters, without wildcards, and with nothing after the host or its port"},
        :required,
        "Browser origins that may call; a request from another one is refused with 403"
      ),
      row(
        :authorize_body,
        {:optional,
         {:custom, &Check.authorize_body/1, "an existing function of 2 arguments: #{@named}"}},
        nil,
        "Decides from the request and its raw body, before decoding"
      ),
      row(
        :allowed_hosts,
        {:optional,
         {:custom, &Check.hosts/1,
          "`:any`, `:loopback` or a list of host names such as `\"mcp.example.com\"` or `\"localhost:4040\"`, without scheme and wildcards"}},
        {:described, "`:loopback` on a loopback address, else `:any`"},
        "`Host` values that are served; another one is refused with 403"
      ),
      row(
        :trusted_proxies,
        {:custom, &Check.networks/1,
         "a list of addresses and networks such as `\"10.0.0.0/8\"`, or `:unix`"},
        [],
        "Proxies that are believed where a request comes from, by `Forwarded` or `X-Forwarded-For`; `:unix` are the peers of a Unix-domain socket. Addresses count for `auth_failures_per_minute` and `rate_limits`"
      ),
      row(
        :allow_public_unauthenticated,
        :boolean,
        false,
        "Permits `authorize: :none` on an address that other machines reach"
      )
    ]
  end

  defp address do
    [
      row(
        :ip,
        {:custom, &Check.ip/1, "an address tuple, an address string or `{:local, path}`"},
        {127, 0, 0, 1},
        "Where to listen; `{:local, path}` is a Unix-domain socket"
      ),
      row(
        :port,
        {:integer, 0, 65_535},
        4_040,
        "0 lets the system choose; `BeamMCP.info/1` tells which. Unused with `{:local, path}`"
      ),
      row(
        :path,
        {:custom, &Check.path/1, "a path such as `\"/mcp\"`"},
        "/mcp",
        "The endpoint, served with and without a slash at the end"
      ),
      row(
        :tls,
        {:optional, {:custom, &Check.keywords/1, "a keyword list"}},
        nil,
        "Serves https by TLS 1.2 and 1.3, see `BeamMCP.TLS`; `nil` is plain HTTP"
      ),
      count(:backlog, 1_024, 1, 65_535, "Connections the system keeps before they are accepted")
    ]
  end

  defp limits do
    [
      bytes(:max_body_bytes, 1_048_576, 1, "A request body; over it 413"),
      count(:max_headers, 100, 8, 1_000, "Header lines of a request; over it 431"),
      bytes(:max_header_bytes, 32_768, 1_024, "Request line and headers together; over it 431"),
      time(
        :header_timeout_ms,
        10_000,
        1,
        "From accept, the handshake of TLS included, or the first byte of a later request, to the end of its headers; then the connection is closed"
      ),
      time(:body_timeout_ms, 30_000, 1, "The whole body; over it 408"),
      time(
        :idle_timeout_ms,
        60_000,
        1,
        "A connection that had no request for this time is closed, and one whose peer does not read its answer, or one of its event streams, for as long"
      ),
      time(
        :keep_alive_ms,
        15_000,
        1,
        "An event stream without events gets a comment after this time"
      ),
      count(
        :max_connections,
        10_000,
        1,
        1_000_000,
        "Open connections, handshakes included; a further one is answered 503, with TLS not at all, closed and counted"
      ),
      count(:h2_max_streams, 100, 1, 10_000, "Concurrent streams of one HTTP/2 connection")
    ]
  end
end
