defmodule BeamMCP.SessionStore do
  @moduledoc """
  Where sessions of legacy clients over HTTP live (MCP 2025-11-25 and 2025-06-18,
  basic/transports, "Session Management").

  The option `session_store: {module, options}` names an implementation; the default,
  `BeamMCP.SessionStore.ETS`, keeps them in memory of one node. Its functions run in the process of
  the request that needs them and have `hook_timeout_ms`. What they raise is answered with 503.
  `BeamMCP.SessionStore.Mnesia` keeps them on several nodes.

  A session is a map that the store keeps and gives back unchanged:

    * `revision` - the negotiated protocol revision
    * `client_info`, `client_capabilities` - JSON texts
    * `principal` - bytes that stand for who opened it, or `nil`; the native library refuses the
      session to anybody else
    * `log_level` - what `logging/setLevel` chose, or `nil`
    * `subscriptions` - URIs that `resources/subscribe` named, at most 128, which take at most
      65,536 bytes together

  `id` is made by the store, 1 to 256 visible ASCII characters that nobody can guess:
  `new_id/0` makes one. Ids that come from clients are strings of any kind; a store never turns
  them into atoms.
  """

  alias BeamMCP.{Fault, Handler}

  # Of one session (MCP 2025-11-25 server/resources names no bound).
  @max_subscriptions 128
  @max_subscriptions_bytes 65_536

  @typedoc "A session's id."
  @type id :: String.t()

  @typedoc "What is kept."
  @type session :: %{
          revision: String.t(),
          client_info: binary(),
          client_capabilities: binary(),
          principal: binary() | nil,
          log_level: String.t() | nil,
          subscriptions: [String.t()]
        }

  @typedoc """
  Whose sessions they are: the instance's `namespace` for a store that nodes share, else its name.
  """
  @type namespace :: term()

  @typedoc false
  @type question ::
          {:create, session()}
          | {:fetch, id()}
          | {:set_log_level, id(), String.t()}
          | {:subscribe | :unsubscribe, id(), uri :: String.t()}
          | {:delete, id()}

  @typedoc "What becomes of a session."
  @type change :: (session() -> {:ok, session()} | {:error, :full})

  @doc "What the store runs under the instance's supervisor; the options come from the host."
  @callback child_spec({namespace(), options :: keyword()}) :: Supervisor.child_spec()

  @doc """
  Whether instances of one `namespace` on several nodes have their sessions in common. A store that
  does not say so serves one instance.

  With such a store, a cancellation or response that reaches one node is told to the others when no
  call of its own is meant.
  """
  @callback shared?() :: boolean()
  @optional_callbacks shared?: 0

  @typedoc "The store cannot be reached or has no majority; answered with 503 and not logged."
  @type unavailable :: {:error, :unavailable}

  @doc "Opens a session. `{:error, :full}` when a bound is reached."
  @callback create(namespace(), session()) :: {:ok, id()} | {:error, :full} | unavailable()

  @doc "A session that has not ended. Counts as use of it."
  @callback fetch(namespace(), id()) :: {:ok, session()} | {:error, :unknown} | unavailable()

  @doc """
  Puts what `change` makes of a session that has not ended in its place. Between reading and
  writing no other change happens to it: clients send several at a time. What `change` refuses
  leaves the session as it is.
  """
  @callback update(namespace(), id(), change()) ::
              :ok | {:error, :unknown | :full} | unavailable()

  @doc "Ends a session."
  @callback delete(namespace(), id()) :: :ok | {:error, :unknown} | unavailable()

  @doc "An id of 256 random bits in URL-safe Base64."
  @spec new_id() :: id()
  def new_id, do: Base.url_encode64(:crypto.strong_rand_bytes(32), padding: false)

  @doc "Whether nodes have the sessions of this store in common."
  @spec shared?(module()) :: boolean()
  def shared?(store), do: Handler.exports?(store, :shared?, 0) and store.shared?()

  @doc false
  @spec answer({module(), namespace()}, question()) ::
          {:created, id()}
          | {:found, session()}
          | :updated
          | :deleted
          | :unknown
          | :full
          | :failed
  def answer({store, namespace}, question) do
    ask(store, namespace, question)
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, inspect(store))
      :failed
  end

  defp ask(store, namespace, {:create, session}) do
    case store.create(namespace, session) do
      {:ok, id} -> {:created, checked(id)}
      {:error, :full} -> :full
      {:error, :unavailable} -> :failed
    end
  end

  defp ask(store, namespace, {:fetch, id}) do
    case store.fetch(namespace, id) do
      {:ok, session} -> {:found, session}
      {:error, :unknown} -> :unknown
      {:error, :unavailable} -> :failed
    end
  end

  defp ask(store, namespace, {:set_log_level, id, level}) do
    update(store, namespace, id, &{:ok, Map.put(&1, :log_level, level)})
  end

  defp ask(store, namespace, {:subscribe, id, uri}) do
    update(store, namespace, id, &subscribe(&1, uri))
  end

  defp ask(store, namespace, {:unsubscribe, id, uri}) do
    update(store, namespace, id, fn session ->
      {:ok, Map.put(session, :subscriptions, List.delete(subscriptions(session), uri))}
    end)
  end

  defp ask(store, namespace, {:delete, id}) do
    case store.delete(namespace, id) do
      :ok -> :deleted
      {:error, :unknown} -> :unknown
      {:error, :unavailable} -> :failed
    end
  end

  defp update(store, namespace, id, change) do
    case store.update(namespace, id, change) do
      :ok -> :updated
      {:error, reason} when reason in [:unknown, :full] -> reason
      {:error, :unavailable} -> :failed
    end
  end

  defp subscribe(session, uri) do
    uris = subscriptions(session)

    cond do
      uri in uris -> {:ok, session}
      full?([uri | uris]) -> {:error, :full}
      true -> {:ok, Map.put(session, :subscriptions, [uri | uris])}
    end
  end

  defp full?(uris) do
    length(uris) > @max_subscriptions or IO.iodata_length(uris) > @max_subscriptions_bytes
  end

  # A store may hold sessions of before there were subscriptions in them.
  defp subscriptions(session), do: Map.get(session, :subscriptions, [])

  # An id that no header can hold would reach nobody (MCP 2025-11-25 basic/transports, "Session Management").
  defp checked(id) do
    if is_binary(id) and id =~ ~r/\A[\x21-\x7E]{1,256}\z/ do
      id
    else
      raise ArgumentError, "create/2 must return an id of 1 to 256 visible ASCII characters"
    end
  end
end
