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

  alias BeamMCP.{Cancellation, Instance, Native}

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
end
