defmodule BeamMCP do
  @moduledoc """
  An MCP server for applications on the BEAM.

  An *instance* is one supervision tree: a catalog of what the host offers, the dispatchers that
  run it, and the transports that serve it. The protocol itself runs in the native library.

      children = [
        {BeamMCP,
         name: MyApp.MCP,
         catalog: MyApp.Catalog,
         dispatch: &MyApp.Tools.call/3,
         http: [port: 4040, authorize: &MyApp.Auth.check/1, allowed_origins: []]}
      ]

  `BeamMCP.Transport.HTTP` and `BeamMCP.Transport.Stdio.run/1` are short forms for one transport.

  What is offered stands in a catalog module (`BeamMCP.Catalog`), or is registered while the
  instance runs, or both:

      BeamMCP.register_tool(MyApp.MCP, %BeamMCP.ToolSpec{name: "ping"}, fn _ -> {:ok, "pong"} end)

  ## Options

  #{BeamMCP.Options.docs(:instance)}

  ## The dispatch function, and handlers of tools

  The dispatch function is called as `dispatch.(name, arguments, context)`, or without the context
  when its arity is 2, in a process of its own for each call. `name` is the tool's name as
  declared. A tool with a handler of its own goes there instead, as `handler.(arguments, context)`
  or `handler.(arguments)`. Arguments
  declared in the schema's `properties` come under atom keys, others under string keys; nested
  objects keep string keys. It returns

    * `{:ok, value}` - a binary becomes a text block; a map, list, number, boolean or `nil`
      becomes structured content and its JSON as text
    * `%BeamMCP.Result{}`, or `{:ok, result}` - content blocks of the host's own
    * `{:error, text}`, or `{:error, error}` with a `BeamMCP.Result.SafeError` - shown to the
      caller as the tool's failure
    * `{:task, fun}` - the call goes on as a task: `fun` gets the `BeamMCP.Context` and returns what a
      dispatch function returns, see `BeamMCP.ToolSpec` for `task_support`
    * `{:error, reason}` - any other reason is not shown: the caller reads "The tool failed."

  Anything else, a raise, a throw, an exit, a kill and a passed deadline are faults of the host:
  the log tells what happened, the caller reads "The tool failed.", and nothing else is harmed.
  """

  alias BeamMCP.Catalog.{Definition, Reader, Registry, Server}

  alias BeamMCP.{
    Audit,
    Changes,
    Config,
    Error,
    Handler,
    Instance,
    Listener,
    Native,
    Parking,
    Staging
  }

  alias BeamMCP.{Tasks, TLS}
  alias BeamMCP.{PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}
  alias BeamMCP.Tasks.Keepers
  alias BeamMCP.Transport.HTTP

  @typedoc "What names an instance: any term, `BeamMCP` by default."
  @type name :: term()

  @typedoc """
  What an instance holds at this moment.

    * `calls` - calls in flight; `tokens` - reply tokens alive
    * `connections` - open HTTP connections; `streams` - responses that are event streams and have
      not ended, and streams of changes on pipes
    * `subscriptions` - streams of changes, with those that broke off and can still be resumed
    * `tasks` - tasks that are kept, `nil` when the store does not say; `tasks_running` - those whose
      work runs on this node
    * `parked` - handlers of `resume: :park` that wait for a client
    * `detached_streams` - streams of calls whose connection broke, or that are read to their end,
      kept for a minute for clients that come back
    * `changes_folded` - changes of parts of resources that were told as changes of the whole,
      because a client did not read
    * `buffered_bytes` - bytes of request bodies and stdio lines held
    * `events_dropped` - events lost because nobody read them in time
    * `audit_dropped` - decisions that `audit` was not told of, since it did not keep up
    * `messages_dropped` - progress and log messages lost because a call sent too many, or its
      client did not read them in time
    * `dispatchers`, `tools`, `resources`, `templates`, `prompts`, `completions` - how many there
      are
    * `catalog_digest` - SHA-256 over the definitions as served, in hexadecimal
    * `listeners` - the open `BeamMCP.Listener`s
  """
  @type info :: %{
          calls: non_neg_integer(),
          tokens: non_neg_integer(),
          connections: non_neg_integer(),
          streams: non_neg_integer(),
          subscriptions: non_neg_integer(),
          tasks: non_neg_integer() | nil,
          tasks_running: non_neg_integer(),
          parked: non_neg_integer(),
          detached_streams: non_neg_integer(),
          changes_folded: non_neg_integer(),
          buffered_bytes: non_neg_integer(),
          events_dropped: non_neg_integer(),
          audit_dropped: non_neg_integer(),
          messages_dropped: non_neg_integer(),
          dispatchers: non_neg_integer(),
          tools: non_neg_integer(),
          resources: non_neg_integer(),
          templates: non_neg_integer(),
          prompts: non_neg_integer(),
          completions: non_neg_integer(),
          catalog_digest: String.t(),
          listeners: [Listener.t()]
        }

  @typedoc """
  The digest of the catalog, and of each definition as it is served: SHA-256 in hexadecimal, by
  name, URI or URI template, in order.
  """
  @type digests :: %{
          digest: String.t(),
          tools: [{String.t(), String.t()}],
          resources: [{String.t(), String.t()}],
          templates: [{String.t(), String.t()}],
          prompts: [{String.t(), String.t()}]
        }

  @typedoc "One of the five kinds of what a server offers."
  @type kind :: :tool | :resource | :template | :prompt | :completion

  @typedoc """
  What a completion is for: every argument of a prompt or variable of a template, or the one named
  last.
  """
  @type completion_ref ::
          {:prompt, String.t() | atom()}
          | {:prompt, String.t() | atom(), argument :: String.t() | atom()}
          | {:resource, uri_template :: String.t()}
          | {:resource, uri_template :: String.t(), variable :: String.t() | atom()}

  @typedoc """
  A kind, its specification (for a completion its reference), and its handler. Without one the
  handler is that of the specification, or else the dispatch function or catalog module's.
  """
  @type registration ::
          {kind(), struct() | completion_ref(), Handler.declared() | [String.t()]}
          | {kind(), struct()}

  @doc "The instance as a child of a supervisor; its id is the instance's name."
  @spec child_spec(keyword()) :: Supervisor.child_spec()
  def child_spec(options) do
    %{
      id: Keyword.get(options, :name, __MODULE__),
      # Behind a function, so that no report of a supervisor prints the secrets in them.
      start: {__MODULE__, :start_sealed, [fn -> options end]},
      type: :supervisor
    }
  end

  @doc """
  Starts an instance, linked to the caller.

  Raises `ArgumentError` for a wrong option before anything is started. Returns `{:error, error}`
  when the catalog is faulty (with everything that is wrong in it), an instance of that name runs,
  or a listener cannot be opened.
  """
  @spec start_link(keyword()) :: {:ok, pid()} | {:error, Error.t()}
  def start_link(options) do
    config = Config.new!(options)

    case Instance.Supervisor.start_link(config) do
      {:ok, pid} -> {:ok, pid}
      {:error, {:already_started, pid}} -> {:error, Error.already_started(config.name, pid)}
      {:error, reason} -> {:error, root_cause(reason)}
    end
  end

  @doc false
  @spec start_sealed((() -> keyword())) :: {:ok, pid()} | {:error, Error.t()}
  def start_sealed(options), do: start_link(options.())

  @doc """
  Stops an instance: its listeners stop accepting, calls get `drain_timeout_ms` to finish, as do
  the jobs of tasks that other nodes can be asked for, and everything ends.
  """
  @spec stop(name()) :: :ok | {:error, Error.t()}
  def stop(name \\ __MODULE__) do
    with {:ok, instance} <- Instance.fetch(name), do: Supervisor.stop(instance.supervisor)
  end

  @doc """
  Reads the catalog again and serves it from now on; calls in flight keep the one they started
  with.

  Returns `{:error, error}` with everything that is wrong in it; then the old one stays.
  """
  @spec catalog_changed(name()) :: :ok | {:error, Error.t()}
  def catalog_changed(name \\ __MODULE__) do
    with {:ok, _instance} <- Instance.fetch(name), do: Server.reload(name)
  end

  @doc """
  Registers a tool, or puts it in the place of the one registered under its name; calls in flight
  stay on the old one.

      BeamMCP.register_tool(MyApp.MCP, %BeamMCP.ToolSpec{name: "ping"}, &MyApp.Ping.call/1)

  `handler` is a function of the arguments, or of the arguments and the `BeamMCP.Context`, or
  `{module, function}` or `{module, function, extra_arguments}`. It runs in the process of each
  call and returns what a dispatch function returns.

  This and the other functions that register return `{:error, error}` with kind `:catalog` and
  everything that is wrong, also when the catalog module declares that name. What is registered
  stays when a process of the instance crashes, and ends with the instance.
  """
  @spec register_tool(name(), ToolSpec.t(), Handler.declared()) :: :ok | {:error, Error.t()}
  def register_tool(name, spec, handler), do: register_all(name, [{:tool, spec, handler}])

  @doc """
  Registers a resource; `handler` gets `%{uri: uri, params: %{}}` and returns what
  `c:BeamMCP.Catalog.read_resource/2` returns. All else is as in `register_tool/3`.
  """
  @spec register_resource(name(), ResourceSpec.t(), Handler.declared()) ::
          :ok | {:error, Error.t()}
  def register_resource(name, spec, handler), do: register_all(name, [{:resource, spec, handler}])

  @doc """
  Registers a resource template; `handler` gets `%{uri: uri, params: params}`, where `params` maps
  each variable that the URI has to its text, and returns what
  `c:BeamMCP.Catalog.read_resource/2` returns. All else is as in `register_tool/3`.
  """
  @spec register_template(name(), ResourceTemplateSpec.t(), Handler.declared()) ::
          :ok | {:error, Error.t()}
  def register_template(name, spec, handler), do: register_all(name, [{:template, spec, handler}])

  @doc """
  Registers a prompt; `handler` gets `%{name: name, arguments: arguments}` and returns what
  `c:BeamMCP.Catalog.get_prompt/3` returns. All else is as in `register_tool/3`.
  """
  @spec register_prompt(name(), PromptSpec.t(), Handler.declared()) :: :ok | {:error, Error.t()}
  def register_prompt(name, spec, handler), do: register_all(name, [{:prompt, spec, handler}])

  @doc """
  Registers what completes an argument of a prompt or a variable of a template.

      BeamMCP.register_completion(MyApp.MCP, {:prompt, "review", "language"}, ["elixir", "erlang"])

  `handler` is a list of strings, of which those that begin with the value are offered, or a
  function that gets `%{ref: ref, argument: name, value: value, context: %{arguments: resolved}}`,
  where `ref` is `{:prompt, name}` or `{:resource, uri}`, and returns what
  `c:BeamMCP.Catalog.complete/3` returns. The completion of one argument goes before that of all.
  All else is as in `register_tool/3`.
  """
  @spec register_completion(name(), completion_ref(), Handler.declared() | [String.t()]) ::
          :ok | {:error, Error.t()}
  def register_completion(name, ref, handler),
    do: register_all(name, [{:completion, ref, handler}])

  @doc """
  Registers all of a list, or nothing when anything in it is wrong. Callers see one change.

  The start option `registrations` takes the same list.
  """
  @spec register_all(name(), [registration()]) :: :ok | {:error, Error.t()}
  def register_all(name, registrations) do
    with {:ok, definitions} <- read(name, registrations), do: Server.register(name, definitions)
  end

  @doc """
  Makes the list all that is registered, in its order: what is not in it goes. What the catalog
  module declares stays. The same list again changes nothing.

  All or nothing, as `register_all/2`; calls in flight stay on what they started with.
  """
  @spec replace_catalog(name(), [registration()]) :: :ok | {:error, Error.t()}
  def replace_catalog(name, registrations) do
    with {:ok, definitions} <- read(name, registrations), do: Server.replace(name, definitions)
  end

  @doc """
  Takes away what was registered under a tool's or prompt's name, a resource's URI, a template's
  URI template or a completion's reference, with the completions that it brought along. Calls in
  flight end as they would have.

  Returns `{:error, error}` with kind `:not_registered` when there is nothing of that kind and key,
  and when the catalog module declares it.
  """
  @spec unregister(name(), kind(), term()) :: :ok | {:error, Error.t()}
  def unregister(name, kind, key) do
    with {:ok, _instance} <- Instance.fetch(name),
         {:ok, id} <- Definition.id(kind, key),
         :ok <- Server.unregister(name, id) do
      :ok
    else
      {:error, %Error{} = error} -> {:error, error}
      {:error, owner} -> {:error, Error.not_registered(kind, key, owned_by(owner))}
      :error -> {:error, Error.not_registered(kind, key, "names nothing that can be registered")}
    end
  end

  @doc """
  Tells every client that wants to hear of it that the list of tools, resources (templates
  included) or prompts is not what it was, on every node with an instance of the same `namespace`.

  What is registered, unregistered and replaced, and `catalog_changed/1`, tell by themselves. This is
  for what only the host knows: what a caller is offered by `c:BeamMCP.Catalog.capabilities/1`, for
  example.

      BeamMCP.notify_changed(MyApp.MCP, :tools)
  """
  @spec notify_changed(name(), :tools | :resources | :prompts) :: :ok | {:error, Error.t()}
  def notify_changed(name \\ __MODULE__, list) when list in [:tools, :resources, :prompts] do
    with {:ok, instance} <- Instance.fetch(name), do: Changes.publish(instance, list)
  end

  @doc """
  Tells every client that subscribed to a resource that it may have to be read again, on every node
  with an instance of the same `namespace`. Whether the resource exists is not asked.

      BeamMCP.notify_resource_updated(MyApp.MCP, "file:///logs/today.txt", within: "file:///logs")

  With `within`, the URI of a resource that this one is part of, clients that subscribed to that one
  hear of it too. Returns `{:error, error}` with kind `:uri` when `uri` is no URI (RFC 3986) of at
  most 4,096 bytes.
  """
  @spec notify_resource_updated(name(), String.t(), within: String.t()) ::
          :ok | {:error, Error.t()}
  def notify_resource_updated(name, uri, options \\ []) when is_binary(uri) do
    [within: within] = Keyword.validate!(options, within: nil)

    with {:ok, instance} <- Instance.fetch(name),
         {:error, {:uri, fault}} <- Changes.publish(instance, {:resource, uri, within}) do
      {:error, Error.uri(uri, fault)}
    end
  end

  @doc """
  Takes what a handler kept for a page with `BeamMCP.Context.stage/4`: once, and for the principal that
  the handler was called by. `{:error, :unknown}` says that there is nothing for this visitor.

  `principal` is who the visitor of the page is, in the form in which `authorize` names its callers, and
  as the page found out by itself: whoever has the URL need not be who the handler asked.

      {:ok, data} = BeamMCP.take_staged(MyApp.MCP, id, "user-7")
  """
  @spec take_staged(name(), String.t(), principal :: term()) ::
          {:ok, data :: term()} | {:error, :unknown | :unavailable | Error.t()}
  def take_staged(name, id, principal) when is_binary(id) do
    with {:ok, instance} <- Instance.fetch(name), do: Staging.take(instance, id, principal)
  end

  @doc """
  Stops accepting, lets running calls finish within `timeout_ms`, and closes every listener.

  Returns the number of connections that were cut at the deadline. The instance stays, without
  listeners, until it is stopped.
  """
  @spec drain(name(), non_neg_integer()) :: {:ok, non_neg_integer()} | {:error, Error.t()}
  def drain(name \\ __MODULE__, timeout_ms) when is_integer(timeout_ms) and timeout_ms >= 0 do
    with {:ok, _instance} <- Instance.fetch(name), do: {:ok, Instance.Drain.run(name, timeout_ms)}
  end

  @doc """
  Reads the certificates and keys of the instance's listeners again, for connections to come; those
  that are open go on. Call it when the files were renewed.

  Returns `{:error, error}` with kind `:tls` for the first listener whose files cannot be used, with
  the file and what is wrong with it. That listener keeps what it has; the others are renewed.
  """
  @spec reload_tls(name()) :: :ok | {:error, Error.t()}
  def reload_tls(name \\ __MODULE__) do
    with {:ok, instance} <- Instance.fetch(name) do
      instance.config.http
      |> Enum.map(&TLS.reload(&1.tls, &1.bind))
      |> Enum.find(:ok, &(&1 != :ok))
    end
  end

  @doc "Counts what the instance holds, so that leaks and load can be seen."
  @spec info(name()) :: {:ok, info()} | {:error, Error.t()}
  def info(name \\ __MODULE__) do
    with {:ok, instance} <- Instance.fetch(name) do
      listeners = for {_pid, listener} <- HTTP.Server.all(name), do: listener

      {:ok,
       instance.native
       |> Native.info()
       |> Map.merge(%{
         listeners: listeners,
         audit_dropped: Audit.dropped(instance),
         tasks: Tasks.count(instance),
         tasks_running: Keepers.count(instance),
         parked: Parking.count(name),
         catalog_digest: Native.catalog_digest(instance.native)
       })}
    end
  end

  @doc """
  With `:definitions`, the digests of all definitions, to tell which of them differ between nodes
  or releases. Definitions that depend on the caller are not among them.
  """
  @spec info(name(), :definitions) :: {:ok, digests()} | {:error, Error.t()}
  def info(name, :definitions) do
    with {:ok, instance} <- Instance.fetch(name),
         {:ok, catalog} <- Registry.current(instance.definitions) do
      {:ok, Native.catalog_digests(catalog)}
    else
      {:error, error} -> {:error, error}
      :none -> {:error, Error.not_running(name)}
    end
  end

  @doc "Like `info/1`, raises `BeamMCP.Error`."
  @spec info!(name()) :: info()
  def info!(name \\ __MODULE__) do
    case info(name) do
      {:ok, info} -> info
      {:error, error} -> raise error
    end
  end

  defp read(name, registrations) do
    with {:ok, instance} <- Instance.fetch(name) do
      case Reader.registrations(registrations, Config.host(instance.config)) do
        {definitions, []} -> {:ok, definitions}
        {_sound, faults} -> {:error, Error.catalog(faults)}
      end
    end
  end

  defp owned_by(nil), do: "is not registered"
  defp owned_by(:catalog), do: "is declared by the catalog module, which alone can leave it out"

  defp owned_by({kind, key}),
    do: "belongs to the #{kind} #{inspect(Definition.label(key))} and goes with it"

  # A supervisor wraps the reason of a child's failed start, once for each level.
  defp root_cause({:shutdown, reason}), do: root_cause(reason)
  defp root_cause({:failed_to_start_child, _id, reason}), do: root_cause(reason)
  defp root_cause(%Error{} = error), do: error
  defp root_cause(reason), do: Error.start(reason)
end
