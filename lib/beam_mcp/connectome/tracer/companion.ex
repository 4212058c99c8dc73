defmodule BeamMCP.Connectome.Tracer.Companion do
  @moduledoc false
  # Starts the process that the VM traces to, and ends the trace from outside of it: at the deadline,
  # when it is told to, and when that process has died. Raises the flag first, so that nothing is
  # written once the trace has ended. Has the tracer's name until all of it is over, so that one runs
  # at a time.

  alias BeamMCP.Connectome.Tracer
  alias BeamMCP.Connectome.Tracer.{Session, Worker}

  @stopped 1
  @deadline 2

  @type flag :: :atomics.atomics_ref()

  @doc "The body of the process; `caller` is told of the worker, or why there is none."
  @spec run(map(), pid(), reference()) :: :ok
  def run(options, caller, ref) do
    Process.flag(:priority, :high)

    if register() do
      flag = :atomics.new(1, [])
      {worker, monitor} = spawn_monitor(Worker, :run, [options, flag, self()])
      await(worker, monitor, flag, options, {caller, ref})
    else
      send(caller, {ref, {:error, :already_running}})
      :ok
    end
  end

  @doc "Whether the trace goes on, or why not."
  @spec flagged(flag()) :: :running | :stopped | :deadline
  def flagged(flag) do
    case :atomics.get(flag, 1) do
      0 -> :running
      @stopped -> :stopped
      @deadline -> :deadline
    end
  end

  defp register do
    Process.register(self(), Tracer)
  rescue
    ArgumentError -> false
  end

  defp await(worker, monitor, flag, options, {caller, ref}) do
    receive do
      {^worker, {:ok, session}} ->
        Process.send_after(self(), :deadline, options.max_duration_ms)
        send(caller, {ref, {:ok, worker}})
        wait(%{worker: worker, monitor: monitor, session: session, flag: flag})

      {^worker, refusal} ->
        send(caller, {ref, refusal})

      {:DOWN, ^monitor, :process, _pid, _reason} ->
        send(caller, {ref, {:error, {:init_failed, Worker}}})
    end

    :ok
  end

  defp wait(%{monitor: monitor} = state) do
    receive do
      {:DOWN, ^monitor, :process, _pid, _reason} -> Session.close(state.session)
      :stop -> finish(@stopped, state)
      :deadline -> finish(@deadline, state)
      _other -> wait(state)
    end
  end

  # The worker knows this process by a monitor: it must not end before.
  defp finish(reason, %{monitor: monitor} = state) do
    :atomics.put(state.flag, 1, reason)
    Session.close(state.session)
    send(state.worker, :flag)

    receive do
      {:DOWN, ^monitor, :process, _pid, _reason} -> :ok
    end
  end
end
