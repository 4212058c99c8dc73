defmodule BeamMCP.Connectome.Tracer do
  @moduledoc """
  Edges between modules and between processes, seen by tracing the VM for a short while. Off unless
  it is started, and never without limits.

      {:ok, pid} =
        BeamMCP.Connectome.Tracer.start(
          collector: MyApp.Observed,
          server: "my_app",
          modules: [MyApp.Orders, MyApp.Stock],
          processes: [MyApp.Queue]
        )

  What it sees goes to a `BeamMCP.Connectome.Observed` collector: a call into one of the modules is
  an edge `:invoke` between the two modules, what one of the processes sends to a registered process
  an edge `:message` between their names. Of a call the VM tells module, function and arity alone; what
  is sent is copied into the tracer's mailbox, at its size, and never read. Three things follow from
  how the VM traces: the caller of a tail call is the caller's caller; calls inside of one module and
  messages to processes without a name are no edges; the mailbox grows as fast as is called, until the
  tracer runs next.

  Tracing ends at `max_messages`, at `max_duration_ms`, with `stop/0`, with the collector, or when one
  of the tracer's two processes dies, whichever comes first. `docs/connectome-observed.md` says
  against what that protects.

  ## Before OTP 27

  From OTP 27 on the VM gives the tracer a session of its own. Before, a node has one trace that all
  share: this tracer then replaces the trace patterns of its modules, clears them at its end, cannot see
  processes that another tracer watches, and hides from others those that it watches itself. It starts
  there only with `accept_shared_tracing: true`.
  """

  alias BeamMCP.Connectome.Fields
  alias BeamMCP.Connectome.Tracer.{Companion, Session}

  @defaults [
    modules: [],
    processes: [],
    max_messages: 1_000,
    max_duration_ms: 5_000,
    accept_shared_tracing: false
  ]
  @max_ms 4_294_967_295
  @stop_within_ms 5_000

  @typedoc "Why nothing is traced."
  @type refusal ::
          {:unknown_key, term()}
          | {:missing, :collector | :server | :modules}
          | {:invalid, atom(), term()}
          | {:not_registered, atom()}
          | {:shared_tracing, String.t()}
          | {:init_failed, module()}
          | :already_running
          | :collector_not_started

  @doc """
  Starts tracing; one tracer runs at a time. The process is not linked to the caller.

    * `:collector` - required, the name of a running collector
    * `:server` - required, the name of the server, as in all of the graph's ids
    * `:modules` - modules whose calls from other modules are traced; each has to be loadable
    * `:processes` - registered names of processes whose sends are traced
    * `:max_messages` - how many trace messages there may be, those that wait included (1,000)
    * `:max_duration_ms` - for how long (5,000, at most 4,294,967,295)
    * `:accept_shared_tracing` - `true` starts also where the VM has no sessions (`false`)

  The process exits with `{:limit, :max_messages | :max_duration_ms, limit}`, `:normal` after
  `stop/0`, `:collector_gone` or `:companion_gone`.
  """
  @spec start(keyword()) :: {:ok, pid()} | {:error, refusal()}
  def start(options) do
    with {:ok, options} <- check(options) do
      ref = make_ref()
      {companion, monitor} = spawn_monitor(Companion, :run, [options, self(), ref])

      receive do
        {^ref, answer} ->
          Process.demonitor(monitor, [:flush])
          answer

        {:DOWN, ^monitor, :process, ^companion, _reason} ->
          {:error, {:init_failed, Companion}}
      end
    end
  end

  @doc """
  Stops tracing and waits for the end of the tracer, at most five seconds. Nothing is recorded after
  it has returned. Fine to call when nothing is traced.
  """
  @spec stop() :: :ok
  def stop do
    with companion when companion != nil <- Process.whereis(__MODULE__) do
      monitor = Process.monitor(companion)
      send(companion, :stop)

      receive do
        {:DOWN, ^monitor, :process, _pid, _reason} -> :ok
      after
        @stop_within_ms -> Process.demonitor(monitor, [:flush])
      end
    end

    :ok
  end

  defp check(options) do
    with :ok <- Fields.check(options, [:collector, :server], Keyword.keys(@defaults)),
         options = @defaults |> Keyword.merge(options) |> Map.new(),
         :ok <- something(options),
         :ok <- Fields.that(is_atom(options.collector), :collector, options.collector),
         :ok <- Fields.that(text?(options.server), :server, options.server),
         :ok <- Fields.that(list?(options.modules, &loadable?/1), :modules, options.modules),
         :ok <- Fields.that(list?(options.processes, &is_atom/1), :processes, options.processes),
         :ok <- limit(options, :max_messages, nil),
         :ok <- limit(options, :max_duration_ms, @max_ms),
         :ok <-
           Fields.member(:accept_shared_tracing, options.accept_shared_tracing, [true, false]),
         :ok <- isolated(options.accept_shared_tracing) do
      {:ok, options}
    end
  end

  defp something(%{modules: [], processes: []}), do: {:error, {:missing, :modules}}
  defp something(_options), do: :ok

  defp limit(options, key, max) do
    value = Map.fetch!(options, key)
    # Every integer is less than an atom.
    Fields.that(is_integer(value) and value > 0 and value <= max, key, value)
  end

  defp isolated(accepted?) do
    if accepted? or Session.own?() do
      :ok
    else
      {:error,
       {:shared_tracing,
        "OTP #{System.otp_release()} has one trace for the whole node: this tracer would replace and " <>
          "then clear the trace patterns of its modules, whoever set them; say " <>
          "`accept_shared_tracing: true` if nobody else traces here"}}
    end
  end

  defp list?(list, each?),
    do: is_list(list) and not List.improper?(list) and Enum.all?(list, each?)

  defp loadable?(module), do: is_atom(module) and module != :_ and Code.ensure_loaded?(module)

  defp text?(text), do: is_binary(text) and String.valid?(text)
end
