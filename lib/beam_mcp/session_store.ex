defmodule BeamMCP.SessionStore do
  @moduledoc """
  Where sessions of legacy clients over HTTP live (MCP 2025-11-25 and 2025-06-18,
  basic/transports, "Session Management").

  The option `session_store: {module, options}` names an implementation; the default,
  `BeamMCP.SessionStore.ETS`, keeps them in memory of one node. Its functions run in the process of
  the request that needs them and have `hook_timeout_ms`. What they raise is answered with 503.

  A session is a map that the store keeps and gives back unchanged:

    * `revision` - the negotiated protocol revision
    * `client_info`, `client_capabilities` - JSON texts
    * `principal` - bytes that stand for who opened it, or `nil`; the native library refuses the
      session to anybody else
    * `log_level` - what `logging/setLevel` chose, or `nil`

  `id` is made by the store, 1 to 256 visible ASCII characters that nobody can guess:
  `new_id/0` makes one. Ids that come from clients are strings of any kind; a store never turns
  them into atoms.
  """

  alias BeamMCP.Fault

  @typedoc "A session's id."
  @type id :: String.t()

  @typedoc "What is kept."
  @type session :: %{
          revision: String.t(),
          client_info: binary(),
          client_capabilities: binary(),
          principal: binary() | nil,
          log_level: String.t() | nil
        }

  @typedoc "The name of the instance whose sessions they are: two instances share none."
  @type namespace :: term()

  @typep question ::
           {:create, session()}
           | {:fetch, id()}
           | {:set_log_level, id(), String.t()}
           | {:delete, id()}

  @doc "What the store runs under the instance's supervisor; the options come from the host."
  @callback child_spec({namespace(), options :: keyword()}) :: Supervisor.child_spec()

  @doc "Opens a session. `{:error, :full}` when a bound is reached."
  @callback create(namespace(), session()) :: {:ok, id()} | {:error, :full}

  @doc "A session that has not ended. Counts as use of it."
  @callback fetch(namespace(), id()) :: {:ok, session()} | {:error, :unknown}

  @doc "Puts `changes`, some of a session's keys with new values, into a session that has not ended."
  @callback update(namespace(), id(), changes :: map()) :: :ok | {:error, :unknown}

  @doc "Ends a session."
  @callback delete(namespace(), id()) :: :ok | {:error, :unknown}

  @doc "An id of 256 random bits in URL-safe Base64."
  @spec new_id() :: id()
  def new_id, do: Base.url_encode64(:crypto.strong_rand_bytes(32), padding: false)

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
    end
  end

  defp ask(store, namespace, {:fetch, id}) do
    case store.fetch(namespace, id) do
      {:ok, session} -> {:found, session}
      {:error, :unknown} -> :unknown
    end
  end

  defp ask(store, namespace, {:set_log_level, id, level}) do
    case store.update(namespace, id, %{log_level: level}) do
      :ok -> :updated
      {:error, :unknown} -> :unknown
    end
  end

  defp ask(store, namespace, {:delete, id}) do
    case store.delete(namespace, id) do
      :ok -> :deleted
      {:error, :unknown} -> :unknown
    end
  end

  # An id that no header can hold would reach nobody (MCP 2025-11-25 basic/transports, "Session Management").
  defp checked(id) do
    if is_binary(id) and id =~ ~r/\A[\x21-\x7E]{1,256}\z/ do
      id
    else
      raise ArgumentError, "create/2 must return an id of 1 to 256 visible ASCII characters"
    end
  end
end
