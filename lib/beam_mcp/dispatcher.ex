defmodule BeamMCP.Dispatcher do
  @moduledoc false
  # Starts a process for each call, and ends it when the call is cancelled.
  #
  # The native library sends the numbers of calls, several in one message when several are ready;
  # nothing else of a call passes through here, and nothing of it stays. The process that is
  # started takes its call by itself, and from then on the native library knows it: when it ends
  # without an answer, its token goes with it and the call fails. So it is neither linked nor
  # monitored, and a dispatcher that dies takes along only the calls it had not come to.
  #
  # The loop is the hot path of every request, hence no GenServer. Measured per call, process
  # included: 2.8 µs, with a link and a table of processes 4.4 µs.

  alias BeamMCP.{Call, Instance, Native}

  # Holds the arguments and the context of most calls, with the claims of a token, from the start: what
  # finds no room would be copied by a garbage collection. With 233 words, the VM's default, a call with a
  # token takes two of them and 1.1 times the CPU.
  @min_heap_words 987

  @enforce_keys [:parent, :name, :grace_ms]
  defstruct @enforce_keys

  @doc false
  @spec child_spec(Instance.name()) :: Supervisor.child_spec()
  def child_spec(name), do: %{id: __MODULE__, start: {__MODULE__, :start_link, [name]}}

  @spec start_link(Instance.name()) :: {:ok, pid()} | {:error, term()}
  def start_link(name), do: :proc_lib.start_link(__MODULE__, :init, [self(), name])

  @doc false
  @spec init(pid(), Instance.name()) :: no_return()
  def init(parent, name) do
    Process.flag(:message_queue_data, :off_heap)
    %{native: native, config: config} = Instance.fetch!(name)
    :ok = Native.add_dispatcher(native, self())
    :proc_lib.init_ack(parent, {:ok, self()})

    loop(%__MODULE__{parent: parent, name: name, grace_ms: config.cancel_grace_ms})
  end

  defp loop(state) do
    receive do
      {:system, from, request} ->
        :sys.handle_system_msg(request, from, state.parent, __MODULE__, [], state)

      message ->
        handle(message, state)
        loop(state)
    end
  end

  defp handle({:beam_mcp, :calls, calls}, state), do: start(calls, state.name)
  defp handle({:beam_mcp, :cancel, call, pid, _reason}, state), do: cancel(call, pid, state)
  defp handle(_unknown, _state), do: :ok

  defp start([], _name), do: :ok

  defp start([call | rest], name) do
    :erlang.spawn_opt(Call, :run, [name, call], min_heap_size: @min_heap_words)
    start(rest, name)
  end

  # The timer outlives this process.
  defp cancel(call, pid, state) do
    {:ok, _timer} = :timer.kill_after(state.grace_ms, pid)
    Call.tell_cancelled(state.name, call, pid)
  end

  @doc false
  def system_continue(_parent, _debug, state), do: loop(state)

  @doc false
  def system_terminate(reason, _parent, _debug, _state), do: exit(reason)

  @doc false
  def system_code_change(state, _module, _old_version, _extra), do: {:ok, state}
end
