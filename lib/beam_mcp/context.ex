defmodule BeamMCP.Context do
  @moduledoc """
  What a handler may know about the request it serves.

    * `instance` - the instance's name; `call` - the number of the call in it
    * `request_id`, `method`, `revision`, `transport` - of the request
    * `client_info`, `client_capabilities` - what the client says of itself, string keys
    * `meta` - the rest of the request's `_meta`, string keys
    * `principal` - who calls, as `authorize` decided; `:anonymous` when it named nobody
    * `scopes`, `claims`, `sender`, `tenant` - what else `authorize` found out, or `nil`
    * `session_id` - of a legacy client over HTTP, else `nil`
    * `headers` - the request headers named by the option `context_headers`, `{name, value}`
    * `host` - what the option `context_builder` made, else `%{}`
    * `deadline_ms` - Unix time at which the call fails
    * `trace` - `:traceparent`, `:tracestate`, `:baggage` as far as the request had them

  The functions may be called from any process of this node while the call runs.
  """

  alias BeamMCP.{Cancellation, Instance, Native, Notice}

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
    :session_id,
    :deadline_ms,
    client_capabilities: %{},
    meta: %{},
    principal: :anonymous,
    headers: [],
    host: %{},
    trace: %{}
  ]

  @typedoc "What is known of one request."
  @type t :: %__MODULE__{
          instance: BeamMCP.name(),
          call: Native.call(),
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
          session_id: String.t() | nil,
          headers: [{String.t(), binary()}],
          host: map(),
          deadline_ms: integer(),
          trace: %{optional(:traceparent | :tracestate | :baggage) => String.t()}
        }

  @doc """
  Whether nobody waits for the answer any more: the client cancelled or went away, or the
  deadline has passed. Also true after the call was answered.
  """
  @spec cancelled?(t()) :: boolean()
  def cancelled?(%__MODULE__{} = context) do
    case Instance.fetch(context.instance) do
      {:ok, instance} -> Native.cancelled?(instance.native, context.call)
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

  defp notify_client(context, notice) do
    case Instance.fetch(context.instance) do
      {:ok, instance} -> Native.notify(instance.native, context.call, notice)
      {:error, _stopped} -> :ok
    end
  end
end
