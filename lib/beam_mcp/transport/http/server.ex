defmodule BeamMCP.Transport.HTTP.Server do
  @moduledoc false
  # Owns one native listener: opens it, closes it, and takes it along when it dies.

  use GenServer, restart: :transient

  require Logger

  alias BeamMCP.{Config, Instance, Listener, Native}

  @doc "Opens listener number `index` of the instance."
  @spec start_link({Instance.name(), Config.listener(), non_neg_integer()}) ::
          GenServer.on_start()
  def start_link({_name, _http, _index} = argument),
    do: GenServer.start_link(__MODULE__, argument)

  @doc "The open listeners of an instance with the processes that own them."
  @spec all(Instance.name()) :: [{pid(), Listener.t()}]
  def all(name) do
    pattern = {{:"$1", {:listener, :_}}, :"$2", :"$3"}
    guard = {:"=:=", :"$1", {:const, name}}
    Registry.select(BeamMCP.Registry, [{pattern, [guard], [{{:"$2", :"$3"}}]}])
  rescue
    # The Registry was killed and the next one names nobody yet.
    ArgumentError -> []
  end

  @doc "Closes the listener for good. The supervisor does not open it again."
  @spec stop(pid()) :: :ok
  def stop(pid) do
    GenServer.stop(pid, :normal)
  catch
    :exit, _already_gone -> :ok
  end

  @impl GenServer
  def init({name, http, index}) do
    instance = Instance.fetch!(name)
    hook = Instance.add_hooks(instance, http, index)

    case Native.open(instance.native, http, hook) do
      {:ok, listener} ->
        state = %{instance: instance, listener: listener, hook: hook, role: {:listener, index}}
        :ok = Instance.register(name, state.role, listener)
        Logger.info("[BeamMCP] #{inspect(name)} listens on #{Listener.url(listener)}")
        {:ok, state}

      {:error, error} ->
        Instance.remove_hooks(instance, hook)
        {:stop, error}
    end
  end

  @impl GenServer
  def handle_info({:EXIT, _registry, _reason}, state) do
    :ok = Instance.register(state.instance.name, state.role, state.listener)
    {:noreply, state}
  end

  @impl GenServer
  def terminate(_reason, state) do
    Instance.unregister(state.instance.name, state.role)
    Native.stop_http(state.listener)
    Instance.remove_hooks(state.instance, state.hook)
  end
end
