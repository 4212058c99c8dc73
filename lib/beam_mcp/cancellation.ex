defmodule BeamMCP.Cancellation do
  @moduledoc false
  # The process that waits for one call's cancellation and then runs what was registered for it.
  # It exists only for calls that registered something, and ends with the call.

  use GenServer, restart: :temporary

  alias BeamMCP.{Context, Fault, Instance}

  @check_ms 1_000

  # A call that has ended may have been cancelled a moment before, and the dispatcher not have come
  # to it yet.
  @linger_ms 500

  @doc "Registers `fun`; starts the process for the first one."
  @spec add(Context.t(), (() -> any())) :: :ok
  def add(context, fun) do
    case GenServer.start(__MODULE__, {context, self()}, name: via(context.instance, key(context))) do
      {:ok, pid} -> GenServer.call(pid, {:add, fun})
      {:error, {:already_started, pid}} -> GenServer.call(pid, {:add, fun})
    end
  end

  @doc "Runs what is registered for the call, if anything is."
  @spec run(Instance.name(), Context.call() | {:task, String.t()}) :: :ok
  def run(name, call) do
    case Registry.lookup(BeamMCP.Registry, {name, {__MODULE__, call}}) do
      [{pid, _value}] -> GenServer.cast(pid, :run)
      [] -> :ok
    end
  rescue
    # The Registry was killed, and the next one knows of no calls: the dispatcher that asks has
    # others to start.
    ArgumentError -> :ok
  end

  @impl GenServer
  def init({context, caller}) do
    # What is registered outlives a Registry that was killed.
    Process.flag(:trap_exit, true)
    Process.monitor(caller)
    {:ok, %{context: context, functions: [], grace_ms: grace_ms(context)}}
  end

  @impl GenServer
  def handle_call({:add, fun}, _from, state) do
    # The dispatcher looks this process up once. Whoever registers after that finds the call
    # cancelled already.
    state = %{state | functions: [fun | state.functions]}
    if Context.cancelled?(state.context), do: GenServer.cast(self(), :run)
    {:reply, :ok, state}
  end

  @impl GenServer
  def handle_cast(:run, state) do
    {:ok, _timer} = :timer.kill_after(state.grace_ms)
    state.functions |> Enum.reverse() |> Enum.each(&run_one/1)
    {:stop, :normal, state}
  end

  @impl GenServer
  def handle_info({:DOWN, _ref, :process, _caller, _reason}, state), do: end_with_call(state)
  def handle_info(:check, state), do: end_with_call(state)
  def handle_info(:end, state), do: {:stop, :normal, state}

  def handle_info({:EXIT, _registry, _reason}, %{context: context} = state) do
    :ok = Instance.register(context.instance, {__MODULE__, key(context)}, nil)
    {:noreply, state}
  end

  # Who registered may be another process than the call's own, and end before the call does.
  defp end_with_call(state) do
    if Context.cancelled?(state.context),
      do: Process.send_after(self(), :end, @linger_ms),
      else: Process.send_after(self(), :check, @check_ms)

    {:noreply, state}
  end

  defp run_one(fun) do
    fun.()
  catch
    kind, reason -> Fault.log(kind, reason, __STACKTRACE__, "a function given to on_cancel")
  end

  defp grace_ms(context) do
    {:ok, instance} = Instance.fetch(context.instance)
    instance.config.cancel_grace_ms
  end

  defp key(%{task: nil, call: call}), do: call
  defp key(%{task: %{id: id}}), do: {:task, id}

  defp via(name, call), do: Instance.via(name, {__MODULE__, call})
end
