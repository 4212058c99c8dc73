defmodule BeamMCP.Options.Table do
  @moduledoc """
  Every option of BeamMCP: key, legal values, default, and what it does at its limit.

  Validation, the documentation of `BeamMCP`, `BeamMCP.Transport.HTTP`,
  `BeamMCP.Transport.Stdio`, `BeamMCP.SessionStore.ETS`, `BeamMCP.SessionStore.Mnesia`,
  `BeamMCP.TaskStore.ETS`, `BeamMCP.Connectome.Observed` and `BeamMCP.Test`, and the tests read
  these rows.
  """

  import BeamMCP.Options.Row

  alias BeamMCP.Options.{Check, Row, Stores}

  @levels ~w(debug info notice warning error critical alert emergency)a
  @named "itself, `{module, function}`, or `{module, function, extra_arguments}` with a list"
  @context_function "an existing function of 1 argument: #{@named}"

  @doc "The rows of one table."
  @spec rows(BeamMCP.Options.table()) :: [Row.t()]
  def rows(:instance),
    do:
      identity() ++
        host() ++ scopes() ++ around() ++ parsing() ++ caching() ++ calls() ++ running()

  def rows(:http), do: policy() ++ address() ++ http_limits()
  def rows(:oauth), do: resource() ++ tokens() ++ proofs() ++ hooks()
  def rows(:issuer), do: issuer()
  def rows(:stdio), do: stdio()
  def rows(:session_ets), do: Stores.sessions()
  def rows(:session_mnesia), do: Stores.sessions() ++ Stores.mnesia()
  def rows(:staged_ets), do: Stores.staged()
  def rows(:staged_mnesia), do: Stores.staged() ++ Stores.mnesia()
  def rows(:task_ets), do: Stores.tasks()
  def rows(:replay_ets), do: Stores.replays()
  def rows(:test), do: test()
  def rows(:observed), do: observed()

  defp identity do
    [
      row(:name, :term, BeamMCP, "Names the instance; two instances in one VM need two names"),
      row(
        :namespace,
        :term,
        nil,
        "What instances on several nodes have in common that serve the same: a change on one is told to the clients of all. `nil` stands for the name"
      ),
      row(:server_name, :string, "beam_mcp", "`serverInfo.name`"),
      row(:server_title, {:optional, :string}, nil, "`serverInfo.title`, for people"),
      row(
        :server_version,
        {:optional, :string},
        {:described, "the version of BeamMCP"},
        "`serverInfo.version`"
      ),
      row(:server_description, {:optional, :string}, nil, "`serverInfo.description`"),
      row(:website_url, {:optional, :string}, nil, "`serverInfo.websiteUrl`"),
      row(:instructions, {:optional, :string}, nil, "What a model should know about the server"),
      row(
        :icons,
        {:custom, &Check.icons/1,
         "a list of maps with `src` (http:, https: or data:), `mimeType`, `sizes`, `theme`"},
        [],
        "`serverInfo.icons`"
      )
    ]
  end

  defp host do
    [
      row(
        :catalog,
        {:optional,
         {:custom, &Check.catalog/1, "a module with `capabilities/0` (`BeamMCP.Catalog`)"}},
        nil,
        "What the host offers from the start; more can be registered while it runs"
      ),
      row(
        :dispatch,
        {:optional,
         {:custom, &Check.dispatch/1, "an existing function of 2 or 3 arguments: #{@named}"}},
        nil,
        "Runs tools without a handler of their own: name as declared, arguments, and for arity 3 the `BeamMCP.Context`"
      ),
      row(
        :registrations,
        {:custom, &Check.registrations/1, "a list of `{kind, spec, handler}`"},
        [],
        "What is registered before anything is served, as by `BeamMCP.register_all/2`"
      ),
      row(
        :http,
        {:custom, &Check.listeners/1, "a keyword list, or a list of them"},
        [],
        "Listeners, see `BeamMCP.Transport.HTTP`"
      ),
      row(
        :session_store,
        {:custom, &Check.store/1, "`{module, options}` of a `BeamMCP.SessionStore`"},
        {BeamMCP.SessionStore.ETS, []},
        "Where sessions of legacy clients live"
      ),
      row(
        :task_store,
        {:custom, &Check.store/1, "`{module, options}` of a `BeamMCP.TaskStore`"},
        {BeamMCP.TaskStore.ETS, []},
        "Where tasks are kept"
      ),
      row(
        :staged_store,
        {:custom, &Check.store/1, "`{module, options}` of a `BeamMCP.StagedStore`"},
        {BeamMCP.StagedStore.ETS, []},
        "Where things wait that are used once"
      ),
      row(
        :single_use_state,
        :boolean,
        false,
        "Whether a 2026 client may send each round of what a handler asked once: the second time is refused with -32602. Costs a look into `staged_store` in each round"
      ),
      row(
        :replay_store,
        {:custom, &Check.replay_store/1, "`{module, options}` of a `BeamMCP.ReplayStore`"},
        {BeamMCP.ReplayStore.ETS, []},
        "Where it is remembered which DPoP proofs were seen"
      ),
      row(
        :secrets,
        {:optional, {:custom, &Check.secrets/1, "a list of binaries of at least 32 octets"}},
        {:described,
         "random at start: cursors and request states then end with the instance and stay on one node"},
        "Current secret first, then earlier ones that are still accepted; share them between nodes",
        secret: true
      ),
      row(
        :context_headers,
        {:custom, &Check.header_names/1, "a list of header names"},
        [],
        "Request headers that handlers see in `context.headers`"
      )
    ]
  end

  defp scopes do
    [
      row(
        :scope_map,
        {:custom, &Check.scopes_by_name/1, "a map from methods to lists of scopes"},
        %{},
        "Scopes that a method needs in place of the usual ones; an empty list stands for those"
      ),
      row(
        :default_scopes,
        {:custom, &Check.scopes/1, "a list of strings"},
        [],
        "Scopes that every method needs that `scope_map` does not name, in place of the usual ones"
      ),
      row(
        :implies,
        {:custom, &Check.scopes_by_name/1, "a map from scopes to lists of scopes"},
        %{},
        "Which scopes a scope stands for beside itself; at most 1,024 in all and never in a circle"
      )
    ]
  end

  defp around do
    [
      row(
        :handler_task_init,
        {:optional,
         {:custom, &Check.task_init/1, "an existing function of 0 or 1 arguments: #{@named}"}},
        nil,
        "Runs first in the process of each call of a handler, with its `BeamMCP.Context`; a fault fails the call"
      ),
      row(
        :context_builder,
        {:optional, {:custom, &Check.context_function/1, @context_function}},
        nil,
        "Makes `context.host`, a map of at most 64 KiB, from the `BeamMCP.Context`, before the handler runs; a fault fails the call"
      ),
      row(
        :telemetry_metadata,
        {:optional, {:custom, &Check.context_function/1, @context_function}},
        nil,
        "Makes up to 16 more entries for the metadata of dispatch events from the context: atom keys that are not taken, with atoms, numbers or strings of at most 256 bytes. A fault is logged, the call goes on"
      ),
      row(
        :exception_reporter,
        {:optional, {:custom, &Check.context_function/1, @context_function}},
        nil,
        "Gets a `BeamMCP.Report` of each handler that raised, threw, exited or answered what cannot be sent, once the caller has its answer"
      )
    ]
  end

  defp parsing do
    [
      count(:page_size, 100, 1, 10_000, "Definitions in one page of a list"),
      count(:max_depth, 64, 1, 256, "Nesting of a message; deeper ones are refused with -32600"),
      count(
        :max_number_digits,
        4_096,
        16,
        100_000,
        "Digits of a number that is kept exactly; longer ones are refused"
      ),
      count(:schema_max_depth, 64, 1, 256, "Nesting of a schema; a deeper definition is refused"),
      count(
        :schema_max_cost,
        10_000,
        1,
        1_000_000,
        "Keyword evaluations for one node with references expanded; over it a definition is refused"
      )
    ]
  end

  defp caching do
    [
      row(
        :cache_ttl_ms,
        {:custom, &Check.cache_ttl/1,
         "an integer from 0 to 86,400,000, or a keyword list of them by `discover`, `tools`, " <>
           "`resources`, `prompts`, `contents`"},
        0,
        "`ttlMs` (2026-07-28): how long clients may keep `server/discover`, the lists and what is " <>
          "read. An integer is for all but `contents`; what a list leaves out is 0"
      ),
      row(
        :cache_scope,
        {:custom, &Check.cache_scope/1,
         "`:private`, `:public`, or a keyword list of them by the same names"},
        :private,
        "`cacheScope` (2026-07-28): whether an answer serves its caller alone or anybody, in the same way"
      ),
      row(
        :allow_public_cache,
        :boolean,
        false,
        "Permits `:public`, here and in definitions; not with a catalog that has `capabilities/1`"
      )
    ]
  end

  defp calls do
    [
      time(
        :call_timeout_ms,
        60_000,
        1,
        "Deadline of a call; then \"The tool failed.\" is answered"
      ),
      time(
        :stream_after_ms,
        5_000,
        1,
        "A call over HTTP that runs longer is answered with an event stream, if its client reads those"
      ),
      time(
        :request_state_ttl_ms,
        900_000,
        1,
        "How long a 2026 client may take to answer what a handler asked; over it the answer is refused with -32602"
      ),
      time(
        :task_ttl_ms,
        3_600_000,
        1,
        "How long a task is kept, from its beginning; work that is not done by then is ended"
      ),
      time(
        :task_poll_interval_ms,
        1_000,
        1,
        "How often clients are told to ask for a task"
      ),
      row(
        :log_level,
        {:one_of, @levels},
        :info,
        "From which level on a 2025 client that did not set one reads log messages"
      ),
      time(
        :cancel_grace_ms,
        1_000,
        0,
        "Time between telling a cancelled call's process and killing it; 0 kills at once"
      ),
      time(
        :hook_timeout_ms,
        2_000,
        1,
        "Deadline of `authorize` and of stores; over it 503. Also of the functions around a handler, over it the call fails"
      ),
      count(:max_calls, 10_000, 1, 1_000_000, "Calls in flight; over it 503 and -31503"),
      count(
        :max_calls_per_principal,
        1_000,
        1,
        1_000_000,
        "Calls in flight of one principal that `authorize` named; over it 429 and -31429"
      ),
      count(
        :max_parked,
        1_000,
        0,
        1_000_000,
        "Handlers of `resume: :park` that wait for a client's answers; over it one is run again instead"
      ),
      count(
        :max_parked_per_principal,
        20,
        0,
        1_000_000,
        "The same of one principal that `authorize` named"
      ),
      count(
        :max_subscriptions,
        10_000,
        1,
        1_000_000,
        "Streams of changes: `subscriptions/listen`, and those of 2025 sessions, which count for a minute longer so that they can be resumed; over it one is refused"
      ),
      count(
        :max_subscriptions_per_principal,
        100,
        1,
        1_000_000,
        "The same of one principal that `authorize` named"
      ),
      bytes(
        :max_buffered_bytes,
        268_435_456,
        65_536,
        "Request bodies, stdio lines and answers that the instance holds at a time; over it 503"
      ),
      bytes(
        :max_result_bytes,
        2_000_000,
        1_024,
        "An encoded result; over it the call fails and the log says so"
      )
    ]
  end

  defp running do
    [
      row(
        :dispatchers,
        {:optional, {:integer, 1, 1_024}},
        {:described, "one for every four schedulers, at least one"},
        "Processes that start calls; one keeps up with hundreds of thousands of calls a second"
      ),
      count(
        :native_threads,
        0,
        0,
        64,
        "Threads that serve sockets, shared by the VM; the first instance decides. 0: half the schedulers, 1 to 4"
      ),
      time(
        :drain_timeout_ms,
        5_000,
        0,
        "Time for calls to finish when the instance stops; then their connections are closed"
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
         "`:any` or a list of origins such as `\"https://app.example.com\"`"},
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
        {:optional, {:custom, &Check.hosts/1, "`:any`, `:loopback` or a list of host names"}},
        {:described, "`:loopback` on a loopback address, else `:any`"},
        "`Host` values that are served; another one is refused with 403"
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
      count(:backlog, 1_024, 1, 65_535, "Connections the system keeps before they are accepted")
    ]
  end

  defp http_limits do
    [
      bytes(:max_body_bytes, 1_048_576, 1, "A request body; over it 413"),
      count(:max_headers, 100, 8, 1_000, "Header lines of a request; over it 431"),
      bytes(:max_header_bytes, 32_768, 1_024, "Request line and headers together; over it 431"),
      time(
        :header_timeout_ms,
        10_000,
        1,
        "From accept, or the first byte of a later request, to the end of its headers; then the connection is closed"
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
        "Open connections; a further one is answered 503, closed and counted"
      ),
      count(:h2_max_streams, 100, 1, 10_000, "Concurrent streams of one HTTP/2 connection")
    ]
  end

  defp resource do
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
        :dpop_nonce_secrets,
        {:optional, {:custom, &Check.secrets/1, "a list of binaries of at least 32 octets"}},
        {:described, "derived from `secrets` of the instance, or random at start"},
        "What nonces are made with, newest first; share them between nodes",
        secret: true
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

  defp issuer do
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
         "`{:jwks_uri, url}`, `{:discover, issuer}` or `{:static, jwks}` with a key set as JSON text or map"},
        :required,
        "Where its public keys are: at a URL, https or on this machine; where its metadata says; or here, and never fetched"
      ),
      row(
        :allow_private_issuer,
        :boolean,
        false,
        "Permits to fetch from a host whose address is not reachable from everywhere"
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

  defp stdio do
    [
      bytes(
        :max_line_bytes,
        1_048_576,
        1_024,
        "A line; the rest of a longer one is skipped and the line refused"
      ),
      time(
        :drain_timeout_ms,
        5_000,
        0,
        "Time for calls to finish, from the end of input or SIGTERM on, whether the client reads what is answered or not; then they are cancelled, and it has a second to read the last answers"
      ),
      row(
        :principal,
        :term,
        :anonymous,
        "Who the client is, as whoever launches the server knows: `principal` in each `BeamMCP.Context`"
      )
    ]
  end

  defp observed do
    [
      row(
        :name,
        {:custom, &Check.process_name/1, "an atom"},
        :required,
        "Names the collector and registers its process; several may run"
      ),
      row(
        :instances,
        {:custom, &Check.instances/1, "`:all`, or a list of names of instances"},
        :all,
        "Whose calls are counted"
      ),
      count(
        :max_edges,
        100_000,
        1,
        10_000_000,
        "Different edges; what finds no room is not counted, and `size/1` says how often that was"
      ),
      time(
        :keep_ms,
        60_000,
        0,
        "How long what was counted waits for a collector that crashed, or was shut down, to start again"
      )
    ]
  end

  defp test do
    [
      row(
        :revision,
        {:custom, &Check.revision/1, Enum.map_join(Check.revisions(), ", ", &"`#{inspect(&1)}`")},
        "2026-07-28",
        "The protocol revision that the client speaks; with an older one it does the handshake"
      ),
      row(
        :principal,
        :term,
        :anonymous,
        "Who calls, as if `authorize` had said so: `principal` in each `BeamMCP.Context`"
      ),
      row(
        :scopes,
        {:optional, {:custom, &Check.scopes/1, "a list of strings"}},
        nil,
        "What the caller may do, in the same way"
      ),
      row(
        :client_info,
        {:custom, &Check.object/1, "a map"},
        %{name: "BeamMCP.Test", version: "1"},
        "What the client says of itself"
      ),
      row(
        :capabilities,
        {:custom, &Check.object/1, "a map"},
        %{},
        "What the client says that it can do"
      ),
      row(
        :log_level,
        {:optional, {:one_of, @levels}},
        :debug,
        "From which level on the client reads log messages; with `nil` it does not say"
      ),
      row(
        :progress,
        :boolean,
        true,
        "Whether the client asks each request for its progress"
      ),
      time(:timeout_ms, 5_000, 1, "How long a function waits for an answer; then it raises")
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
