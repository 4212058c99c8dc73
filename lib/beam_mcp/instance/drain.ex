defmodule BeamMCP.Instance.Drain do
  @moduledoc false
  # Stops accepting, lets running calls finish, closes. Runs on request and, being the last child
  # of its instance, before anything else of the instance stops: then it lets jobs finish, too, whose
  # results other nodes can be asked for.

  use GenServer

  alias BeamMCP.{Config, Instance, Listener, Native}
  alias BeamMCP.Tasks.Keepers
  alias BeamMCP.Transport.HTTP

  # What the native side may take beyond the deadline before it is given up.
  @slack_ms 1_000

  @doc false
  def child_spec(config) do
    %{
      id: __MODULE__,
      start: {__MODULE__, :start_link, [config]},
      shutdown: config.drain_timeout_ms + 2 * @slack_ms
    }
  end

  @spec start_link(Config.t()) :: GenServer.on_start()
  def start_link(config) do
    GenServer.start_link(__MODULE__, config)
  end

  @doc "Drains every listener of the instance; answers how many connections were cut."
  @spec run(Instance.name(), non_neg_integer()) :: non_neg_integer()
  def run(name, timeout_ms) do
    GenServer.call(Instance.via(name, __MODULE__), {:drain, timeout_ms}, :infinity)
  end

  @impl GenServer
  def init(config) do
    :ok = Instance.register(config.name, __MODULE__, nil)
    {:ok, config}
  end

  @impl GenServer
  def handle_call({:drain, timeout_ms}, _from, config) do
    {:reply, drain(config.name, timeout_ms), config}
  end

  @impl GenServer
  def handle_info({:EXIT, _registry, _reason}, config) do
    :ok = Instance.register(config.name, __MODULE__, nil)
    {:noreply, config}
  end

  def handle_info(_late, config), do: {:noreply, config}

  @impl GenServer
  def terminate(_reason, config) do
    deadline = now_ms() + config.drain_timeout_ms
    drain(config.name, config.drain_timeout_ms)
    if Config.shared_tasks?(config), do: await_tasks(config.name, deadline)
  end

  defp await_tasks(name, deadline) do
    with {:ok, instance} <- Instance.fetch(name), do: Keepers.await(instance, deadline)
  end

  defp drain(name, timeout_ms) do
    servers = HTTP.Server.all(name)
    refs = for {_pid, listener} <- servers, do: start(listener, timeout_ms)
    deadline = now_ms() + timeout_ms + @slack_ms
    left = refs |> Enum.map(&await(&1, deadline)) |> Enum.sum()
    for {pid, _listener} <- servers, do: HTTP.Server.stop(pid)
    left
  end

  @spec start(Listener.t(), non_neg_integer()) :: reference()
  defp start(listener, timeout_ms) do
    ref = make_ref()
    :ok = Native.drain_http(listener, self(), ref, timeout_ms)
    ref
  end

  defp await(ref, deadline) do
    receive do
      {:beam_mcp, :drained, ^ref, left} -> left
    after
      max(deadline - now_ms(), 0) -> 0
    end
  end

  defp now_ms, do: System.monotonic_time(:millisecond)
end
