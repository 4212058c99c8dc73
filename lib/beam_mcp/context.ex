defmodule BeamMCP.Context do
  @moduledoc """
  What a handler may know about the request it serves.

    * `instance` - the instance's name; `call` - the number of the call in it
    * `request_id`, `method`, `revision`, `transport` - of the request
    * `client_info`, `client_capabilities` - what the client says of itself, string keys
    * `meta` - the rest of the request's `_meta`, string keys
    * `principal` - who calls, as `authorize` decided; `:anonymous` when it named nobody
    * `scopes`, `claims`, `sender`, `tenant` - what else `authorize` found out, or `nil`
    * `binding_key` - a binary that ties sessions, cursors, tasks and what clients are asked to who
      calls; `nil` when nobody was named. Compare it, and nothing else
    * `session_id` - of a legacy client over HTTP, else `nil`
    * `headers` - the request headers named by the option `context_headers`, `{name, value}`
    * `host` - what the option `context_builder` made, else `%{}`
    * `deadline_ms` - Unix time at which the call fails, or the task ends
    * `task` - in the work of a task what it is known by here, else `nil`
    * `trace` - `:traceparent`, `:tracestate`, `:baggage` as far as the request had them

  The functions may be called from any process of this node while the call runs; those that ask the
  client - `elicit/4`, `sample/3`, `roots/2`, `ask/3`, `retry_later/1`, `supports?/2` - only from the
  process that runs the handler.

  In the work of a task (`{:task, fun}`) the functions do the same things in a task's way: questions
  stand in the task until its client has answered, `progress/4` writes its `statusMessage`, `log/4` and
  `notify/3` send nothing, and cancelling is what `tasks/cancel` does.

  ## Asking the client

  A handler asks in the same words whatever the client speaks. A 2025 client is asked at once, and
  the function returns with its answer. A 2026 client is told in the result of the call what is
  needed, and sends the call again with its answers: **the handler runs once more from its start**,
  and the functions return the answers that are there. So what a handler does before its last
  question is done again with every round; put what must happen once behind it. `BeamMCP` keeps
  nothing in between: what was answered travels with the client, sealed for this caller and this
  request, for at most `request_state_ttl_ms`.

  Where a handler asks, its run may end: a throw leaves it. `after` blocks run and transactions roll
  back; a `catch` of its own should let throws pass that it does not know.
  """

  alias BeamMCP.{Asking, Cancellation, InputRequest, Instance, Native, Notice, Parked, Staging}
  alias BeamMCP.Tasks.{Handle, Keeper}

  defstruct [
    :instance,
    :call,
    :request_id,
    :method,
    :revision,
    :transport,
    :client_info,
    :scopes,
    :claims,
    :sender,
    :tenant,
    :binding_key,
    :session_id,
    :deadline_ms,
    :task,
    client_capabilities: %{},
    meta: %{},
    principal: :anonymous,
    headers: [],
    host: %{},
    trace: %{}
  ]

  @typedoc "The number of the call; of a handler that parks, what stands for it."
  @type call :: Native.call() | {:parked, pid()}

  @typedoc "What is known of one request."
  @type t :: %__MODULE__{
          instance: BeamMCP.name(),
          call: call(),
          request_id: String.t() | integer(),
          method: String.t(),
          revision: String.t(),
          transport: :http | :stdio,
          client_info: map() | nil,
          client_capabilities: map(),
          meta: map(),
          principal: term(),
          scopes: [String.t()] | nil,
          claims: map() | nil,
          sender: term(),
          tenant: term(),
          binding_key: binary() | nil,
          session_id: String.t() | nil,
          headers: [{String.t(), binary()}],
          host: map(),
          deadline_ms: integer(),
          task: Handle.t() | nil,
          trace: %{optional(:traceparent | :tracestate | :baggage) => String.t()}
        }

  @typedoc false
  @type facts ::
          {request :: tuple(), client :: tuple(),
           {binding_key :: binary() | nil, said :: tuple() | nil}}

  @doc false
  # What the native library tells of a request; `native/nif/src/context.rs` has the order. An update of a
  # literal, since the compiler merges the two maps that it makes of a literal with values each time.
  @spec new(facts(), BeamMCP.name()) :: t()
  def new({request, client, {binding_key, said}}, instance) do
    {call, request_id, method, revision, transport, deadline_ms, session_id} = request
    {client_info, client_capabilities, meta, headers, trace} = client
    {principal, scopes, claims, sender, tenant} = said || {:anonymous, nil, nil, nil, nil}

    %{
      %__MODULE__{}
      | instance: instance,
        call: call,
        request_id: request_id,
        method: method,
        revision: revision,
        transport: transport,
        deadline_ms: deadline_ms,
        session_id: session_id,
        client_info: client_info,
        client_capabilities: client_capabilities,
        meta: meta,
        headers: headers,
        trace: trace,
        binding_key: binding_key,
        principal: principal,
        scopes: scopes,
        claims: claims,
        sender: sender,
        tenant: tenant
    }
  end

  @doc """
  Whether nobody waits for the answer any more: the client cancelled or went away, or the
  deadline has passed. Also true after the call was answered.
  """
  @spec cancelled?(t()) :: boolean()
  def cancelled?(%__MODULE__{task: %Handle{} = task}), do: Handle.ended?(task)

  def cancelled?(%__MODULE__{} = context) do
    case Instance.fetch(context.instance) do
      {:ok, instance} -> cancelled?(instance, context.call)
      {:error, _stopped} -> true
    end
  end

  @doc """
  Has `fun` called once when the call is cancelled, at once when it already is.

  It runs in a process of its own, for at most the instance's `cancel_grace_ms`; then the call's
  process is killed. It does not run when the call ends by itself. Several functions run in the
  order in which they were registered; a fault in one is logged and does not stop the others.
  """
  @spec on_cancel(t(), (() -> any())) :: :ok
  def on_cancel(%__MODULE__{} = context, fun) when is_function(fun, 0) do
    Cancellation.add(context, fun)
  end

  @typedoc "How severe a log message is, least first (RFC 5424)."
  @type level :: :debug | :info | :notice | :warning | :error | :critical | :alert | :emergency

  @typedoc """
  What became of a message to the client.

  `:ok` says that there is nothing for the handler to do: the message goes out, or the client did
  not ask for such messages, cannot read them, or has its answer already.
  """
  @type sent :: :ok | {:error, :busy | :not_increasing}

  @doc """
  Tells the client how far the call is (MCP basic/utilities/progress).

  In the work of a task, which sends no messages, `message` becomes the task's `statusMessage`.

  `progress` grows from one message to the next, else nothing is sent and
  `{:error, :not_increasing}` is returned, whether the client reads progress or not; `total` is
  where it ends, `message` is for people. When the client does not read fast enough, the newest
  are sent and the others are not.

      Context.progress(context, 3, 10, "three of ten files")
  """
  @spec progress(t(), number(), number() | nil, String.t() | nil) :: sent()
  def progress(%__MODULE__{} = context, progress, total \\ nil, message \\ nil) do
    notify_client(context, Notice.progress(progress, total, message))
  end

  @doc """
  Writes a log message to the client (MCP server/utilities/logging).

  `data` is any value that JSON can say; option `:logger` names who writes. A 2026-07-28 client
  gets messages only if its request names a level, and then those of that level and above; a 2025
  client those at or above the level that it set, or else the instance's option `log_level`. One
  call may write 200 in a second; more are dropped and counted in `BeamMCP.info/1`, as are the
  oldest when the client does not read. Secrets and personal data do not belong here.

      Context.log(context, :info, "connected")
      Context.log(context, :error, %{code: 7}, logger: "database")
  """
  @spec log(t(), level(), term(), logger: String.t()) :: sent()
  def log(%__MODULE__{} = context, level, data, options \\ []) do
    notify_client(context, Notice.log(level, data, options))
  end

  @doc """
  Sends the client a notification that the protocol does not define, in relation to the call.

  `params` is a map, or `nil` for none. `{:error, :busy}` says that the client does not read and
  that the notification was not sent. Raises for a method of the protocol's own.

      Context.notify(context, "notifications/acme/preview", %{url: "https://example.com/1"})
  """
  @spec notify(t(), String.t(), map() | nil) :: sent()
  def notify(%__MODULE__{} = context, method, params \\ nil) do
    notify_client(context, Notice.notification(method, params))
  end

  @doc """
  Ends the response here, unfinished; the call goes on (MCP 2025-11-25 basic/transports,
  "Sending Messages to the Server").

  A client of 2025-11-25 over HTTP, within a session, comes back for the rest with a GET, after one
  and a half seconds or later: what is sent meanwhile, and the answer, wait for it for a minute. So
  a call that takes long holds no connection. For every other client nothing is ended, and
  `{:error, :not_supported}` is returned; `{:error, :busy}` says that the client does not read.

      Context.close_stream(context)
  """
  @spec close_stream(t()) :: :ok | {:error, :not_supported | :busy}
  def close_stream(%__MODULE__{} = context), do: notify_client(context, :break)

  @typedoc """
  Why there is no answer: the client does not declare what it takes, and the question was
  `optional`; or, of 2025 clients alone, it answered with an error of its own, with something that
  does not fit the question, or it does not read.
  """
  @type unanswered ::
          :not_supported
          | {:client, code :: integer(), message :: String.t()}
          | :malformed
          | :busy

  @typedoc "What a user said to a form or a page; a form's content has string keys and fits its schema."
  @type elicited :: {:accept, map()} | :decline | :cancel | {:error, unanswered()}

  @doc """
  Asks the user, with a form or for a visit to a page (MCP client/elicitation).

  `what` is the schema of a form, see `BeamMCP.InputRequest.form/2`, or `{:url, url}`, or
  `{:url, url, id}` where `elicitation_complete/2` will be told by that id. Returns
  `{:accept, content}` (of a page `{:accept, %{}}`: the user agreed to visit it), `:decline` or
  `:cancel`.

      case Context.elicit(context, "Delete all files?", schema) do
        {:accept, %{"sure" => true}} -> delete()
        _otherwise -> {:ok, "Nothing was deleted."}
      end

  Options:

    * `:key` - a string or atom by which the question is known to the client and in later rounds;
      by default questions are numbered in the order in which they are asked. Needed where that
      order depends on something that may change from one round to the next
    * `:optional` - with `true` a client that does not declare what it takes gives
      `{:error, :not_supported}`; by default the call ends, with error -32021 that names what is
      missing (2026) or with a text that says so (2025)

  A 2026 client that leaves an answer out, or gives one that does not fit the schema, is asked
  again. An answer to a question that has changed since it was asked does not count.
  """
  @spec elicit(
          t(),
          String.t(),
          map() | {:url, String.t()} | {:url, String.t(), id :: String.t()},
          keyword()
        ) :: elicited()
  def elicit(context, message, what, options \\ [])

  def elicit(%__MODULE__{} = context, message, {:url, url}, options),
    do: ask_one(context, InputRequest.url(message, url), options)

  def elicit(%__MODULE__{} = context, message, {:url, url, id}, options),
    do: ask_one(context, InputRequest.url(message, url, id), options)

  def elicit(%__MODULE__{} = context, message, schema, options),
    do: ask_one(context, InputRequest.form(message, schema), options)

  @doc """
  Tells a client that what a user was sent to a page for is done (`notifications/elicitation/complete`,
  MCP 2025-11-25 client/elicitation). `id` is that of `elicit/4` with `{:url, url, id}`.

  Only 2025-11-25 has this notification; to other clients nothing is sent.
  """
  @spec elicitation_complete(t(), String.t()) :: :ok | {:error, :busy}
  def elicitation_complete(%__MODULE__{revision: "2025-11-25"} = context, id),
    do: notify_client(context, Notice.elicitation_complete(id))

  def elicitation_complete(%__MODULE__{}, id) when is_binary(id), do: :ok

  @doc """
  Asks the client's model for a message (MCP client/sampling): `{:ok, message}` with `"role"`,
  `"content"`, `"model"` and perhaps `"stopReason"`.

  `params` see `BeamMCP.InputRequest.sample/1`, options see `elicit/4`.

      Context.sample(context, %{
        messages: [BeamMCP.Content.prompt_message(:user, "Sum this up: " <> text)],
        maxTokens: 200
      })
  """
  @spec sample(t(), map(), keyword()) :: {:ok, map()} | {:error, unanswered()}
  def sample(%__MODULE__{} = context, params, options \\ []),
    do: ask_one(context, InputRequest.sample(params), options)

  @doc """
  Asks for the client's roots (MCP client/roots): `{:ok, roots}`, each a map with `"uri"` and
  perhaps `"name"`. They are hints, not permissions. Options see `elicit/4`.
  """
  @spec roots(t(), keyword()) :: {:ok, [map()]} | {:error, unanswered()}
  def roots(%__MODULE__{} = context, options \\ []),
    do: ask_one(context, InputRequest.roots(), options)

  @doc """
  Asks several things at once, in one round; the answers under the same keys, each as the function
  for it would return it.

  Option `:optional` as of `elicit/4`, for each question.

      %{name: {:accept, %{"name" => name}}, roots: {:ok, roots}} =
        Context.ask(context, %{
          name: InputRequest.form("What is your name?", schema),
          roots: InputRequest.roots()
        })
  """
  @spec ask(t(), %{(atom() | String.t()) => InputRequest.t()}, keyword()) :: %{
          (atom() | String.t()) => elicited() | {:ok, map() | [map()]}
        }
  def ask(%__MODULE__{} = context, requests, options \\ []) when is_map(requests) do
    keys = requests |> Map.keys() |> Enum.sort_by(&Asking.key!/1)
    questions = for key <- keys, do: {Asking.key!(key), Map.fetch!(requests, key)}
    keys |> Enum.zip(Asking.ask(context, questions, options)) |> Map.new()
  end

  @doc """
  Ends the call for now: a 2026 client sends it again, at once or later, with the answers it gave so
  far, and the handler runs once more. A 2025 client is told to come back in words.

  For work that is under way and not done yet, or for load to be shed. Does not return.
  """
  @spec retry_later(t()) :: no_return()
  def retry_later(%__MODULE__{} = context), do: Asking.retry_later(context)

  @doc """
  Whether the client can be asked: it declares what that takes, and, of 2025 clients over HTTP, it
  has a session and reads event streams.
  """
  @spec supports?(t(), :form | :url | :sampling | :sampling_tools | :roots) :: boolean()
  def supports?(%__MODULE__{} = context, kind), do: Asking.supports?(context, kind)

  @doc """
  Keeps `data` for a page that the user is sent to, until it is taken once, by the same principal.

  `key` tells what a handler keeps apart. In all rounds of one conversation the answer names the same
  `id`, so that the URL that it stands in stays the same:

      case Context.stage(context, :connect, %{account: 7}) do
        {:open, id} ->
          Context.elicit(context, "Connect", {:url, "https://example.com/connect/" <> id})
          Context.retry_later(context)

        :taken ->
          {:ok, "Connected."}
      end

  The page finds out who its visitor is, by a login of its own and not by the URL, and takes the data
  with `BeamMCP.take_staged/3` when it is done: from then on this function says `:taken`. Of a 2025
  client, whose handler runs once, ask again after some time.

  Option `:ttl_ms`, default 900,000, is how long it waits; the state of a round has a time of its own.
  Afterwards, and without room, `{:error, reason}`. The id is no secret from the client, and says
  nothing of the data.
  """
  @spec stage(t(), term(), term(), ttl_ms: pos_integer()) ::
          {:open, id :: String.t()} | :taken | {:error, :full | :unavailable | :unknown}
  def stage(%__MODULE__{} = context, key, data, options \\ []),
    do: Staging.stage(context, key, data, options)

  defp ask_one(context, request, options) do
    {key, options} = Keyword.pop(options, :key)
    [answer] = Asking.ask(context, [{Asking.key!(key), request}], options)
    answer
  end

  # A task sends no messages (MCP tasks); what it tells people stands in it.
  defp notify_client(%{task: %Handle{} = task}, {:progress, _progress, _total, message})
       when is_binary(message),
       do: Keeper.tell(task, message)

  defp notify_client(%{task: %Handle{}}, _notice), do: :ok

  defp notify_client(context, notice) do
    case Instance.fetch(context.instance) do
      {:ok, instance} -> notify_client(instance, context.call, notice)
      {:error, _stopped} -> :ok
    end
  end

  defp notify_client(instance, {:parked, _handler} = parked, notice),
    do: Parked.notify(instance, parked, notice)

  defp notify_client(instance, call, notice), do: Native.notify(instance.native, call, notice)

  defp cancelled?(instance, {:parked, _handler} = parked),
    do: Parked.cancelled?(instance, parked)

  defp cancelled?(instance, call), do: Native.cancelled?(instance.native, call)
end
