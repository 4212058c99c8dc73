defmodule BeamMCP.Connectome.Tracer.Worker do
  @moduledoc false
  # The process that the VM sends its trace to. A plain process: its mailbox holds what others sent
  # to each other, and no report of a crash may print that.
  #
  # It ends by itself when it has seen as many messages as it may, or when its companion has raised
  # the flag; the companion watches the clock from outside, where no mailbox can be too long.

  alias BeamMCP.Connectome.Observed.{Collector, Row}
  alias BeamMCP.Connectome.Tracer.{Companion, Session}

  # How many messages are handled between two looks at the length of the mailbox.
  @look_every 32

  @enforce_keys [:collector, :server, :names, :flag, :session, :options, :monitors]
  defstruct @enforce_keys ++ [handled: 0]

  @doc "The body of the process; `companion` is told once tracing goes on, or why it does not."
  @spec run(map(), Companion.flag(), pid()) :: :ok
  def run(options, flag, companion) do
    Process.flag(:trap_exit, true)
    Process.flag(:priority, :high)
    Process.flag(:message_queue_data, :off_heap)

    case start(options, flag, companion) do
      {:ok, state} ->
        send(companion, {self(), {:ok, state.session}})
        loop(state)

      {:error, _reason} = refusal ->
        send(companion, {self(), refusal})
        :ok
    end
  end

  defp start(options, flag, companion) do
    with {:ok, collector, pid} <- collector(options.collector),
         {:ok, names} <- names(options.processes),
         {:ok, session} <- open(options.modules, Map.keys(names)) do
      {:ok,
       %__MODULE__{
         collector: collector,
         server: options.server,
         names: names,
         flag: flag,
         session: session,
         options: options,
         monitors: %{
           Process.monitor(pid) => :collector_gone,
           Process.monitor(companion) => :companion_gone
         }
       }}
    end
  end

  defp collector(name) do
    with {:ok, collector} <- Collector.fetch(name),
         pid when is_pid(pid) <- Process.whereis(name) do
      {:ok, collector, pid}
    else
      _gone -> {:error, :collector_not_started}
    end
  end

  defp names(processes) do
    Enum.reduce_while(processes, {:ok, %{}}, fn name, {:ok, names} ->
      case Process.whereis(name) do
        pid when is_pid(pid) -> {:cont, {:ok, Map.put(names, pid, name)}}
        _none -> {:halt, {:error, {:not_registered, name}}}
      end
    end)
  end

  defp open(modules, processes) do
    {:ok, Session.open(modules, processes)}
  rescue
    error -> {:error, {:init_failed, error.__struct__}}
  end

  defp loop(state) do
    receive do
      {:trace, _pid, _what, _that, _more} = message -> traced(message, state)
      {:DOWN, monitor, :process, _pid, _reason} -> gone(Map.get(state.monitors, monitor), state)
      # The flag's own bell, and whatever else.
      _other -> unless_flagged(state, fn -> loop(state) end)
    end
  end

  @spec traced(tuple(), %__MODULE__{}) :: no_return()
  defp traced(message, state) do
    unless_flagged(state, fn ->
      state = %{state | handled: state.handled + 1}
      unless over?(state), do: record(message, state)
      if over?(state), do: finish({:limit, :max_messages, state.options.max_messages}, state)
      loop(state)
    end)
  end

  # The flag comes before every write, since the mailbox may still be long when time is up.
  @spec unless_flagged(%__MODULE__{}, (() -> no_return())) :: no_return()
  defp unless_flagged(state, go_on) do
    case Companion.flagged(state.flag) do
      :running -> go_on.()
      :stopped -> finish(:normal, state)
      :deadline -> finish({:limit, :max_duration_ms, state.options.max_duration_ms}, state)
    end
  end

  defp over?(%{handled: handled, options: %{max_messages: max}})
       when handled == 1 or rem(handled, @look_every) == 0 do
    {:message_queue_len, queued} = Process.info(self(), :message_queue_len)
    handled + queued >= max
  end

  defp over?(%{handled: handled, options: %{max_messages: max}}), do: handled >= max

  defp gone(nil, state), do: loop(state)
  defp gone(reason, state), do: finish(reason, state)

  defp finish(reason, state) do
    Session.close(state.session)
    exit(reason)
  end

  defp record({:trace, _pid, :call, {to, _function, _arity}, {from, _caller, _n}}, state)
       when from != to do
    count({:module, state.server, from}, {:module, state.server, to}, :invoke, state)
  end

  defp record({:trace, from, :send, _term, to}, state) when to != self() do
    with {:ok, from} <- Map.fetch(state.names, from), name when name != nil <- name(to) do
      count({:process, state.server, from}, {:process, state.server, name}, :message, state)
    end
  end

  defp record(_other, _state), do: :ok

  defp count(from, to, kind, state) do
    case Collector.row(state.collector, {from, to, kind}) do
      nil -> :ok
      row -> Row.used(row, 0)
    end
  end

  # A process without a name is no part of the graph.
  defp name(pid) when is_pid(pid) and node(pid) == node() do
    case Process.info(pid, :registered_name) do
      {:registered_name, name} when is_atom(name) -> name
      _none -> nil
    end
  end

  defp name(name) when is_atom(name), do: name
  defp name({name, node}) when node == node(), do: name
  defp name(_elsewhere), do: nil
end
