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

  ## Options

  #{BeamMCP.Options.docs(:instance)}

  ## The dispatch function

  It is called as `dispatch.(name, arguments, context)`, or without the context when its arity is
  2, in a process of its own for each call. `name` is the tool's name as declared. Arguments
  declared in the schema's `properties` come under atom keys, others under string keys; nested
  objects keep string keys. It returns

    * `{:ok, value}` - a binary becomes a text block; a map, list, number, boolean or `nil`
      becomes structured content and its JSON as text
    * `%BeamMCP.Result{}`, or `{:ok, result}` - content blocks of the host's own
    * `{:error, text}` - shown to the caller as the tool's failure
    * `{:error, reason}` - any other reason is not shown: the caller reads "The tool failed."

  Anything else, a raise, a throw, an exit, a kill and a passed deadline are faults of the host:
  the log tells what happened, the caller reads "The tool failed.", and nothing else is harmed.
  """

  alias BeamMCP.{Catalog, Config, Error, Instance, Listener, Native}
  alias BeamMCP.Transport.HTTP

  @typedoc "What names an instance: any term, `BeamMCP` by default."
  @type name :: term()

  @typedoc """
  What an instance holds at this moment.

    * `calls` - calls in flight; `tokens` - reply tokens alive
    * `connections` - open HTTP connections; `streams` - event streams, none yet
    * `buffered_bytes` - bytes of request bodies and stdio lines held
    * `events_dropped` - events lost because nobody read them in time
    * `dispatchers`, `tools` - how many there are
    * `catalog_digest` - SHA-256 over the definitions as served, in hexadecimal
    * `listeners` - the open `BeamMCP.Listener`s
  """
  @type info :: %{
          calls: non_neg_integer(),
          tokens: non_neg_integer(),
          connections: non_neg_integer(),
          streams: non_neg_integer(),
          buffered_bytes: non_neg_integer(),
          events_dropped: non_neg_integer(),
          dispatchers: non_neg_integer(),
          tools: non_neg_integer(),
          catalog_digest: String.t(),
          listeners: [Listener.t()]
        }

  @doc "The instance as a child of a supervisor; its id is the instance's name."
  @spec child_spec(keyword()) :: Supervisor.child_spec()
  def child_spec(options) do
    %{
      id: Keyword.get(options, :name, __MODULE__),
      start: {__MODULE__, :start_link, [options]},
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

  @doc """
  Stops an instance: its listeners stop accepting, calls get `drain_timeout_ms` to finish, and
  everything ends.
  """
  @spec stop(name()) :: :ok | {:error, Error.t()}
  def stop(name \\ __MODULE__) do
    with {:ok, _instance} <- Instance.fetch(name) do
      Supervisor.stop(Instance.via(name, :supervisor))
    end
  end

  @doc """
  Reads the catalog again and serves it from now on; calls in flight keep the one they started
  with.

  Returns `{:error, error}` with everything that is wrong in it; then the old one stays.
  """
  @spec catalog_changed(name()) :: :ok | {:error, Error.t()}
  def catalog_changed(name \\ __MODULE__) do
    with {:ok, _instance} <- Instance.fetch(name), do: Catalog.Server.reload(name)
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

  @doc "Counts what the instance holds, so that leaks and load can be seen."
  @spec info(name()) :: {:ok, info()} | {:error, Error.t()}
  def info(name \\ __MODULE__) do
    with {:ok, instance} <- Instance.fetch(name) do
      listeners = for {_pid, listener} <- HTTP.Server.all(name), do: listener
      {:ok, Map.put(Native.info(instance.native), :listeners, listeners)}
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

  # A supervisor wraps the reason of a child's failed start, once for each level.
  defp root_cause({:shutdown, reason}), do: root_cause(reason)
  defp root_cause({:failed_to_start_child, _id, reason}), do: root_cause(reason)
  defp root_cause(%Error{} = error), do: error
  defp root_cause(reason), do: Error.start(reason)
end
