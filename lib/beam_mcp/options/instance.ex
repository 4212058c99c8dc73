defmodule BeamMCP.Options.Instance do
  @moduledoc """
  The options of an instance, `BeamMCP.start_link/1`.
  """

  import BeamMCP.Options.Row

  alias BeamMCP.Options.{Check, Row}

  @levels ~w(debug info notice warning error critical alert emergency)a
  @named "itself, `{module, function}`, or `{module, function, extra_arguments}` with a list"
  @hook_function "an existing function of 2 arguments: #{@named}"
  @context_function "an existing function of 1 argument: #{@named}"

  @doc "The rows of an instance."
  @spec rows() :: [Row.t()]
  def rows,
    do:
      identity() ++
        host() ++ scopes() ++ around() ++ parsing() ++ caching() ++ calls() ++ running()

  defp identity do
    [
      row(:name, :term, BeamMCP, "Names the instance; two instances in one VM need two names"),
      row(
        :namespace,
        :term,
        nil,
        "What instances on several nodes have in common that serve the same: a change on one is told to the clients of all. `nil` stands for the name"
      ),
      row(
        :clustered,
        :boolean,
        false,
        "Says that several nodes serve the same clients, so that the start is refused without `secrets`, and where a DPoP proof would be good once on each node: see `replay_store`"
      ),
      row(:server_name, :string, "beam_mcp", "`serverInfo.name`"),
      row(:server_title, {:optional, :string}, nil, "`serverInfo.title`, for people"),
      row(
        :server_version,
        {:optional, :string},
        {:described, "that of the application which `catalog` belongs to, else that of BeamMCP"},
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
        :scope_policy,
        {:custom, &Check.scope_policy/1,
         "a map from methods to `:visible_definitions` or `:selected_definition`"},
        %{},
        "Methods for which the scopes of definitions stand in the place of the method's: `:visible_definitions` for `tools/list`, `resources/list` and `resources/templates/list`, `:selected_definition` for `tools/call` and `resources/read`. A method is in this or in `scope_map`"
      ),
      row(
        :subscription_scopes,
        {:custom, &Check.scopes/1, "a list of strings"},
        [],
        "Scopes that `subscriptions/listen` needs beside those of what it asks for"
      ),
      row(
        :hide_unauthorized,
        :boolean,
        false,
        "Whether lists leave out every definition whose scopes the caller lacks, also those of which it would be told what it lacks"
      ),
      row(
        :authorize_definition,
        {:optional, {:custom, Check.hook_of(2), @hook_function}},
        nil,
        "Called with the `BeamMCP.Context` and a `BeamMCP.Definition`, once scopes suffice: `true` permits, all else hides it from the caller (`BeamMCP.Definition`)"
      ),
      row(
        :step_up,
        {:optional, {:custom, Check.hook_of(2), @hook_function}},
        nil,
        "Called with the same, after that: `:ok`, or `{:step_up, acr_values, max_age}` for a sign-in that the token must tell of, else 401"
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
      ),
      row(
        :audit,
        {:optional, {:custom, &Check.context_function/1, @context_function}},
        nil,
        "Gets a `BeamMCP.Decision` for each caller that is let in or refused, in order, from a process of its own; `&BeamMCP.AuditLog.log/1` writes lines. While 1,000 wait for it more are dropped and counted, see `BeamMCP.info/1`"
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
        "Permits `:public`, here and in definitions; not with a catalog that has `capabilities/1`, nor with `authorize_definition`. What needs scopes of its own is never public"
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
        "Deadline of `authorize` and of stores; over it 503. Also of `authorize_definition` and `step_up`, over it they deny, and of the functions around a handler, over it the call fails"
      ),
      count(:max_calls, 10_000, 1, 1_000_000, "Calls in flight; over it 503 and -31503"),
      count(
        :max_calls_per_principal,
        1_000,
        1,
        1_000_000,
        "Calls in flight of one principal that `authorize` named; over it 429 and -31429"
      ),
      row(
        :rate_limits,
        {:custom, &Check.rate_limits/1,
         "a keyword list of `{count, per_ms}` by `calls`, `completions`, `subscriptions`"},
        [],
        "How often one caller may call tools, read resources and get prompts, have arguments completed, and subscribe: all at once and then at an even pace; over it 429 with `Retry-After`, and -31429. A caller is a principal, or where nobody is named an address or pipe"
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
        "Time for calls to finish when the instance stops, and for jobs whose tasks other nodes know; then connections are closed"
      )
    ]
  end
end
