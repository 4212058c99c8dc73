defmodule BeamMCP.Config do
  @moduledoc false
  # The validated options of one instance, and what the native library needs of them.

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.{Handler, Native, OAuth, Options, TLS}

  @enforce_keys Options.keys(:instance)
  defstruct Options.keys(:instance)

  @type t :: %__MODULE__{}

  @typedoc "The validated options of one listener, with `bind` in place of `ip` and `port`."
  @type listener :: map()

  @doc "Raises `ArgumentError` for any wrong option, before anything is started."
  @spec new!(keyword()) :: t()
  def new!(options) do
    options = Options.validate!(:instance, options)
    namespace = if options.namespace == nil, do: options.name, else: options.namespace
    options = %{options | namespace: namespace}

    known = %{secrets: options.secrets, alone?: match?([_one], options.http)}

    listeners =
      for {http, index} <- Enum.with_index(options.http),
          do: listener!(http, "http[#{index}].", known)

    refuse_public!(options)
    refuse_credentials!(options.context_headers, listeners)
    refuse_scopes!(options)
    refuse_apart!(options, listeners)

    options
    |> Map.merge(%{
      http: listeners,
      secrets: seal(options.secrets),
      session_store: store(options.session_store, options),
      task_store: store(options.task_store, options),
      staged_store: store(options.staged_store, options),
      replay_store: store(options.replay_store, options),
      dispatchers: options.dispatchers || max(div(System.schedulers_online(), 4), 1),
      server_version: options.server_version || version(options.catalog)
    })
    |> then(&struct!(__MODULE__, &1))
  end

  @typedoc "What a listener's options depend on: the host's secrets, and whether it is the only one."
  @type known :: %{secrets: [binary()] | nil, alone?: boolean()}

  @doc "The validated options of one listener."
  @spec listener!(keyword(), String.t(), known()) :: listener()
  def listener!(http, path \\ "", known \\ %{secrets: nil, alone?: true}) do
    http = :http |> Options.validate!(http, path) |> protect!(path, known) |> secure!(path)
    loopback? = loopback?(http.ip)
    refuse_open!(http, loopback?, path)
    refuse_networks!(http, path)
    refuse_blind!(http, path)

    http
    |> Map.put(:bind, bind(http.ip, http.port))
    |> Map.put(:allowed_hosts, http.allowed_hosts || if(loopback?, do: :loopback, else: :any))
  end

  @doc "What the instance can run for definitions without a handler, and how it reads them."
  @spec host(t()) :: Definition.host()
  def host(config) do
    %{
      serves: for({kind, true} <- serves(config), do: kind),
      public_cache?: public_cache?(config),
      keys: :atoms
    }
  end

  @doc "The configuration map of `instance_new`."
  @spec native(t(), [binary()], boolean()) :: map()
  def native(config, secrets, telemetry?) do
    config
    |> Map.take(~w(instructions page_size max_depth max_number_digits schema_max_depth
         schema_max_cost call_timeout_ms stream_after_ms request_state_ttl_ms hook_timeout_ms max_result_bytes context_headers
         allow_public_cache max_calls max_calls_per_principal max_subscriptions
         max_subscriptions_per_principal max_buffered_bytes native_threads rate_limits)a)
    |> Map.merge(scopes(config))
    |> Map.merge(%{
      server_info: server_info(config),
      log_level: Atom.to_string(config.log_level),
      caller_catalog: caller_catalog?(config),
      completes: exports?(config.catalog, :complete, 3),
      shared_sessions: shared_sessions?(config),
      shared_tasks: shared_tasks?(config),
      cache: cache(config),
      secrets: secrets,
      tells_decisions: telemetry? or config.audit != nil,
      telemetry: telemetry?
    })
  end

  @doc "Whether what is offered depends on the caller."
  @spec caller_catalog?(t()) :: boolean()
  def caller_catalog?(config), do: exports?(config.catalog, :capabilities, 1)

  @doc "Whether other nodes may serve the same legacy sessions."
  @spec shared_sessions?(t()) :: boolean()
  def shared_sessions?(%{session_store: {module, _namespace, _child}}), do: shared?(module)

  @doc "Whether other nodes may be asked for the same tasks."
  @spec shared_tasks?(t()) :: boolean()
  def shared_tasks?(%{task_store: {module, _namespace, _child}}), do: shared?(module)

  @doc "The options map of `http_start`; `hook` comes back with every question to this listener's hooks."
  @spec native_listener(listener(), non_neg_integer()) :: map()
  def native_listener(http, hook) do
    http
    |> Map.take(~w(bind path allowed_origins allowed_hosts max_body_bytes max_headers
         max_header_bytes header_timeout_ms body_timeout_ms idle_timeout_ms keep_alive_ms
         max_connections h2_max_streams backlog trusted_proxies)a)
    |> Map.merge(%{
      hook: hook,
      authorize: http.authorize != :none and guard(http.authorize) == nil,
      tls: http.tls && http.tls.resource,
      guard: guard(http.authorize),
      authorize_body: http.authorize_body != nil
    })
  end

  defp guard(%OAuth{guard: guard}), do: guard
  defp guard(_hook), do: nil

  defp protect!(%{authorize: {:oauth, options}} = http, path, known),
    do: %{http | authorize: OAuth.new!(options, path <> "authorize.", known)}

  defp protect!(http, _path, _known), do: http

  defp secure!(%{tls: nil} = http, _path), do: http
  defp secure!(http, path), do: %{http | tls: TLS.new!(http.tls, path <> "tls.")}

  defp refuse_scopes!(options) do
    with {:error, {_kind, text}} <- Native.check_scopes(scopes(options)) do
      raise ArgumentError, "option #{text}"
    end
  end

  # What nodes of a cluster must have in common.
  defp refuse_apart!(%{clustered: false}, _listeners), do: :ok

  defp refuse_apart!(%{secrets: nil}, _listeners) do
    raise ArgumentError,
          "option secrets: with `clustered: true` the nodes must share them, or none opens what another has sealed"
  end

  defp refuse_apart!(%{replay_store: {store, _options}}, listeners) do
    proofs = for %{authorize: %OAuth{proofs: proofs}} <- listeners, do: proofs

    if :once in proofs and not shared?(store) do
      raise ArgumentError,
            "option replay_store: with `clustered: true` a DPoP proof would be good once on each node, since " <>
              "#{inspect(store)} is not shared: use BeamMCP.ReplayStore.Mnesia or one with shared?/0, or say " <>
              "`replay: :per_node` and `dpop_nonce: :required` in authorize"
    end
  end

  # Which scopes are needed for what, and whether the host has more to say of a definition.
  defp scopes(options) do
    options
    |> Map.take(~w(scope_map scope_policy default_scopes subscription_scopes implies
         hide_unauthorized)a)
    |> Map.merge(%{
      authorizes_definitions: options.authorize_definition != nil,
      steps_up: options.step_up != nil
    })
  end

  # Handlers get no access token, so that none can hand it on (MCP basic/authorization, "Access
  # Token Privilege Restriction").
  defp refuse_credentials!(names, listeners) do
    with true <- Enum.any?(listeners, &is_struct(&1.authorize, OAuth)),
         [name | _rest] <- Enum.filter(names, &(&1 in ["authorization", "dpop"])) do
      raise ArgumentError,
            "option context_headers: #{inspect(name)} would hand access tokens to handlers; " <>
              "what they say is in `context.claims`"
    end
  end

  defp serves(%{catalog: catalog, dispatch: dispatch}) do
    reads? = exports?(catalog, :read_resource, 2)

    [
      tool: dispatch != nil,
      resource: reads?,
      template: reads?,
      prompt: exports?(catalog, :get_prompt, 3)
    ]
  end

  defp exports?(nil, _function, _arity), do: false
  defp exports?(module, function, arity), do: Handler.exports?(module, function, arity)

  # For each category of answers how long and for whom they may be kept.
  defp cache(%{cache_ttl_ms: ttl_ms, cache_scope: scope}) do
    Map.new(ttl_ms, fn {category, ttl_ms} -> {category, {ttl_ms, scope[category]}} end)
  end

  defp public_cache?(%{allow_public_cache: allowed?, catalog: catalog} = options) do
    allowed? and not exports?(catalog, :capabilities, 1) and options.authorize_definition == nil
  end

  # Answers that are told as private although the host says public would surprise it.
  defp refuse_public!(%{cache_scope: scope} = options) do
    if Enum.any?(scope, &match?({_category, :public}, &1)) and not public_cache?(options) do
      raise ArgumentError,
            "option cache_scope: `:public` needs `allow_public_cache: true` and a catalog without " <>
              "capabilities/1 and no `authorize_definition`, so that no answer depends on the caller"
    end
  end

  defp server_info(config) do
    optional = [
      title: config.server_title,
      description: config.server_description,
      websiteUrl: config.website_url,
      icons: if(config.icons != [], do: config.icons)
    ]

    for {key, value} <- optional,
        value != nil,
        into: %{name: config.server_name, version: config.server_version},
        do: {key, value}
  end

  # Behind a function, so that no report of a crash prints them.
  defp seal(nil), do: nil
  defp seal(secrets), do: fn -> secrets end

  # The store checks its own options here, where a wrong one still raises.
  defp store({module, store_options}, %{name: name, namespace: namespace}) do
    namespace = if shared?(module), do: namespace, else: name
    {module, namespace, module.child_spec({namespace, store_options})}
  end

  defp shared?(module), do: Handler.exports?(module, :shared?, 0) and module.shared?()

  # A catalog belongs to the host. One that was compiled by hand belongs to no application.
  defp version(catalog) do
    application = Application.get_application(catalog) || :beam_mcp
    to_string(Application.spec(application, :vsn) || "0")
  end

  defp bind({:local, path}, _port), do: {:unix, path}
  defp bind(ip, port), do: {:tcp, ip, port}

  defp refuse_open!(%{authorize: :none, allow_public_unauthenticated: false} = http, false, path) do
    raise ArgumentError,
          "option #{path}authorize: `:none` on #{:inet.ntoa(http.ip)} lets every machine that reaches it call " <>
            "your tools; listen on a loopback address, give a function, or say " <>
            "`allow_public_unauthenticated: true`"
  end

  defp refuse_open!(_http, _loopback?, _path), do: :ok

  defp refuse_networks!(http, path) do
    with {:error, {_kind, text}} <- Native.check_networks(http.trusted_proxies) do
      raise ArgumentError, "option #{path}#{text}"
    end
  end

  defp refuse_blind!(%{authorize: %OAuth{mtls: {:tls}}, tls: tls}, path) do
    if tls == nil or tls.client_certificates == :off do
      raise ArgumentError,
            "option #{path}authorize.mtls: `{:tls}` takes certificates from the listener's own TLS, " <>
              "which asks for none; give `tls: [client_certificates: :requested, ..]`"
    end
  end

  defp refuse_blind!(_http, _path), do: :ok

  defp loopback?({:local, _path}), do: true
  defp loopback?({127, _, _, _}), do: true
  defp loopback?({0, 0, 0, 0, 0, 0, 0, 1}), do: true
  defp loopback?({0, 0, 0, 0, 0, 0xFFFF, high, _low}), do: high in 0x7F00..0x7FFF
  defp loopback?(_ip), do: false
end
