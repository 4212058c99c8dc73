defmodule BeamMCP.Instance.Owner do
  @moduledoc false
  # Owns what the processes of an instance share: the native instance, the tables and the
  # persistent term. First to start and last to stop.

  use GenServer

  require Logger

  alias BeamMCP.Catalog.Registry
  alias BeamMCP.{Audit, Config, Error, Instance, Native, Telemetry}
  alias BeamMCP.Dispatch.Around

  @spec start_link(Config.t()) :: GenServer.on_start()
  def start_link(config), do: GenServer.start_link(__MODULE__, config)

  @doc "Has the hooks of a listener forgotten when the process that opened it ends."
  @spec forget_hooks_with(pid(), pid(), non_neg_integer()) :: :ok
  def forget_hooks_with(owner, pid, number),
    do: GenServer.call(owner, {:forget_hooks, pid, number})

  @impl GenServer
  def init(config) do
    Process.flag(:trap_exit, true)
    stop_calls(config.name)
    telemetry? = Telemetry.available?()

    case Native.new_instance(Config.native(config, secrets(config), telemetry?)) do
      {:ok, native} ->
        Instance.put(instance(config, native, telemetry?))
        {:ok, %{name: config.name, hooks: %{}}}

      {:error, reason} ->
        {:stop, Error.native(reason)}
    end
  end

  @impl GenServer
  def handle_call({:forget_hooks, pid, number}, _from, state) do
    {:reply, :ok, put_in(state.hooks[Process.monitor(pid)], number)}
  end

  @impl GenServer
  def handle_info({:DOWN, ref, :process, _pid, _reason}, state) do
    {number, hooks} = Map.pop!(state.hooks, ref)
    state.name |> Instance.fetch!() |> Instance.remove_hooks(number)
    {:noreply, %{state | hooks: hooks}}
  end

  @impl GenServer
  def terminate(_reason, %{name: name}) do
    stop_calls(name)
    Instance.erase(name)
  end

  # Calls that are left when the instance ends, or that an owner which was killed has left.
  defp stop_calls(name) do
    with {:ok, instance} <- Instance.fetch(name) do
      for pid <- Native.workers(instance.native), do: Process.exit(pid, :kill)
    end
  end

  defp instance(config, native, telemetry?) do
    {store, namespace, _child} = config.session_store
    {task_store, task_namespace, _child} = config.task_store
    {staged_store, staged_namespace, _child} = config.staged_store
    {replay_store, replay_namespace, _child} = config.replay_store
    [supervisor | _ancestors] = Process.get(:"$ancestors")

    %Instance{
      name: config.name,
      supervisor: supervisor,
      native: native,
      config: config,
      hooks: :ets.new(:hooks, [:public, read_concurrency: true]),
      handlers: :ets.new(:handlers, [:public, read_concurrency: true]),
      definitions: Registry.new(),
      caller_catalogs: :ets.new(:caller_catalogs, [:public, read_concurrency: true]),
      supervisors: :ets.new(:supervisors, [:public, read_concurrency: true]),
      sessions: {store, namespace},
      tasks: {task_store, task_namespace},
      staged: {staged_store, staged_namespace},
      replays: {replay_store, replay_namespace},
      telemetry?: telemetry?,
      audit: if(config.audit, do: Audit.counters()),
      around: Around.new(config, telemetry?)
    }
  end

  defp secrets(%{secrets: nil, name: name}) do
    Logger.info(
      "[BeamMCP] #{inspect(name)} has no `secrets`: cursors and what clients were asked end with this instance and are unknown to other nodes"
    )

    [:crypto.strong_rand_bytes(32)]
  end

  defp secrets(%{secrets: secrets}), do: secrets.()
end
