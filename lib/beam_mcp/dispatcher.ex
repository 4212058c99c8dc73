defmodule BeamMCP.Dispatcher do
  @moduledoc false
  # Starts a process for each call, and ends it when the call is cancelled.
  #
  # The native library sends the numbers of calls, several in one message when several are ready;
  # nothing else of a call passes through here. The call's process is linked and exits are
  # trapped: its end arrives as one message, as with a monitor, and the death of a dispatcher
  # takes its calls along, where a monitor would leave them running unseen.
  #
  # Not a GenServer: nobody calls it, and the loop is the hot path of every request.

  require Logger

  alias BeamMCP.{Call, Instance, Native}

  @enforce_keys [:parent, :name, :native, :grace_ms]
  defstruct @enforce_keys

  @doc false
  def child_spec(name) do
    %{id: __MODULE__, start: {__MODULE__, :start_link, [name]}}
  end

  @spec start_link(Instance.name()) :: {:ok, pid()} | {:error, term()}
  def start_link(name), do: :proc_lib.start_link(__MODULE__, :init, [self(), name])

  @doc false
  @spec init(pid(), Instance.name()) :: no_return()
  def init(parent, name) do
    Process.flag(:trap_exit, true)
    Process.flag(:message_queue_data, :off_heap)
    %{native: native, config: config} = Instance.fetch!(name)
    :ok = Native.add_dispatcher(native, self())
    :proc_lib.init_ack(parent, {:ok, self()})

    fixed = %__MODULE__{
      parent: parent,
      name: name,
      native: native,
      grace_ms: config.cancel_grace_ms
    }

    loop(fixed, %{}, %{})
  end

  # `calls` leads from a call's process to the call, `processes` from the call to its process, or
  # to `{:cancelled, pid}` once it has been told.
  defp loop(fixed, calls, processes) do
    receive do
      {:beam_mcp, :calls, numbers} -> start(numbers, fixed, calls, processes)
      {:EXIT, pid, reason} -> ended(pid, reason, fixed, calls, processes)
      {:beam_mcp, :cancel, call, reason} -> cancel(call, reason, fixed, calls, processes)
      {:beam_mcp, :kill, call} -> kill(call, fixed, calls, processes)
      {:system, from, request} -> system(request, from, fixed, calls, processes)
      _other -> loop(fixed, calls, processes)
    end
  end

  defp start([call | rest], fixed, calls, processes) do
    pid = :erlang.spawn_link(Call, :run, [fixed.name, call])
    start(rest, fixed, Map.put(calls, pid, call), Map.put(processes, call, pid))
  end

  defp start([], fixed, calls, processes), do: loop(fixed, calls, processes)

  defp ended(parent, reason, %{parent: parent}, _calls, _processes), do: exit(reason)

  defp ended(pid, reason, fixed, calls, processes) do
    case calls do
      %{^pid => call} ->
        if reason != :normal, do: failed(call, reason, fixed, processes)
        loop(fixed, Map.delete(calls, pid), Map.delete(processes, call))

      _no_call ->
        loop(fixed, calls, processes)
    end
  end

  # The process ended without an answer, which only an exit signal or a kill can cause.
  defp failed(call, reason, fixed, processes) do
    Native.fail(fixed.native, call)

    unless match?(%{^call => {:cancelled, _pid}}, processes) do
      BeamMCP.Fault.log_end(fixed.name, call, reason)
    end
  end

  defp cancel(call, reason, fixed, calls, processes) do
    case processes do
      %{^call => pid} when is_pid(pid) ->
        if reason == :deadline, do: BeamMCP.Fault.log_deadline(fixed.name, call, pid)
        Call.tell_cancelled(fixed.name, call, pid)
        kill_after(fixed.grace_ms, call)
        loop(fixed, calls, Map.put(processes, call, {:cancelled, pid}))

      _ended_or_told ->
        loop(fixed, calls, processes)
    end
  end

  defp kill_after(0, call), do: send(self(), {:beam_mcp, :kill, call})

  defp kill_after(grace_ms, call),
    do: Process.send_after(self(), {:beam_mcp, :kill, call}, grace_ms)

  defp kill(call, fixed, calls, processes) do
    with %{^call => {:cancelled, pid}} <- processes, do: Process.exit(pid, :kill)
    loop(fixed, calls, processes)
  end

  defp system(request, from, fixed, calls, processes) do
    :sys.handle_system_msg(request, from, fixed.parent, __MODULE__, [], {fixed, calls, processes})
  end

  @doc false
  def system_continue(_parent, _debug, {fixed, calls, processes}),
    do: loop(fixed, calls, processes)

  @doc false
  def system_terminate(reason, _parent, _debug, _state), do: exit(reason)

  @doc false
  def system_code_change(state, _module, _old_version, _extra), do: {:ok, state}
end
