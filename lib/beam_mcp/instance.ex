defmodule BeamMCP.Instance do
  @moduledoc false
  # What every process of an instance needs to know of it. It is a persistent term, so that a
  # call's process reads it without copying; `BeamMCP.Instance.Owner` puts and erases it.

  alias BeamMCP.{Config, Error, Native}
  alias BeamMCP.Dispatch.Around
  alias BeamMCP.Instance.Owner

  @enforce_keys ~w(name supervisor native config hooks handlers definitions caller_catalogs sessions
                   supervisors tasks staged replays telemetry? audit around)a
  defstruct @enforce_keys

  @type name :: term()

  @type t :: %__MODULE__{
          name: name(),
          supervisor: pid(),
          native: Native.instance(),
          config: Config.t(),
          # ETS table: hook number => {authorize, authorize_body}
          hooks: :ets.table(),
          # ETS table: number => handler, see `BeamMCP.Catalog.Handlers`
          handlers: :ets.table(),
          # ETS table, see `BeamMCP.Catalog.Registry`
          definitions: :ets.table(),
          # ETS table: content hash => catalog, see `BeamMCP.Catalog.Caller`
          caller_catalogs: :ets.table(),
          # ETS table: module => pid, see `BeamMCP.Tasks.Keepers`
          supervisors: :ets.table(),
          # The session store and the name it was started under, and the same of tasks.
          sessions: {module(), term()},
          tasks: {module(), term()},
          # The same of things that are used once.
          staged: {module(), term()},
          replays: {module(), term()},
          telemetry?: boolean(),
          # Present when the host wants to know of decisions, see `BeamMCP.Audit`.
          audit: BeamMCP.Audit.counters() | nil,
          # The host's functions around handlers, or nil when it has none.
          around: Around.t() | nil
        }

  @spec fetch(name()) :: {:ok, t()} | {:error, Error.t()}
  def fetch(name) do
    case :persistent_term.get({__MODULE__, name}, nil) do
      nil -> {:error, Error.not_running(name)}
      instance -> {:ok, instance}
    end
  end

  @doc "For processes that live inside the instance."
  @spec fetch!(name()) :: t()
  def fetch!(name), do: :persistent_term.get({__MODULE__, name})

  @spec put(t()) :: :ok
  def put(instance), do: :persistent_term.put({__MODULE__, instance.name}, instance)

  @spec erase(name()) :: boolean()
  def erase(name), do: :persistent_term.erase({__MODULE__, name})

  @doc "The Registry name of one process of an instance."
  @spec via(name(), term()) :: {:via, module(), term()}
  def via(name, role), do: {:via, Registry, {BeamMCP.Registry, {name, role}}}

  @doc """
  Registers the calling process under its role, and waits for the Registry while that starts again.

  The Registry takes those along that are in it, and while it ends it is linked to and gone at once,
  more often than a supervisor bears. So the caller traps exits from now on; when it gets one, it
  does this again.
  """
  @spec register(name(), term(), term(), non_neg_integer()) :: :ok
  def register(name, role, value, tries \\ 100) do
    Process.flag(:trap_exit, true)

    case Registry.register(BeamMCP.Registry, {name, role}, value) do
      {:ok, _registry} -> :ok
      # It died twice before the caller saw that it died once.
      {:error, {:already_registered, pid}} when pid == self() -> :ok
    end
  rescue
    error in ArgumentError ->
      if tries == 0, do: reraise(error, __STACKTRACE__)
      Process.sleep(10)
      register(name, role, value, tries - 1)
  end

  @doc "Takes the calling process's role away, which the Registry does by itself, but later."
  @spec unregister(name(), term()) :: :ok
  def unregister(name, role) do
    Registry.unregister(BeamMCP.Registry, {name, role})
  rescue
    # The Registry is just ending.
    ArgumentError -> :ok
  end

  @doc """
  Remembers the hooks of one listener under the number by which calls name them: its index among
  the instance's own listeners, or one beyond those.
  """
  @spec add_hooks(t(), Config.listener(), non_neg_integer()) :: non_neg_integer()
  def add_hooks(instance, http, number) do
    true = :ets.insert(instance.hooks, {number, http.authorize, http.authorize_body})
    number
  end

  @doc "The same for a listener of the calling process; they are forgotten when it ends."
  @spec add_hooks(t(), Config.listener()) :: non_neg_integer()
  def add_hooks(instance, http) do
    number = length(instance.config.http) + System.unique_integer([:positive])
    :ok = Owner.forget_hooks_with(:ets.info(instance.hooks, :owner), self(), number)
    add_hooks(instance, http, number)
  end

  @spec remove_hooks(t(), non_neg_integer()) :: true
  def remove_hooks(instance, number) do
    :ets.delete(instance.hooks, number)
  rescue
    # The table ended with its owner.
    ArgumentError -> true
  end
end
