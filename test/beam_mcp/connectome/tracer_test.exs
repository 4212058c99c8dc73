defmodule BeamMCP.Connectome.TracerTest do
  # One tracer runs at a time.
  use ExUnit.Case, async: false

  alias BeamMCP.Connectome.{Observed, Tracer}
  alias BeamMCP.Connectome.Tracer.Session
  alias BeamMCP.Fixture.Declared.{Alpha, Beta}

  @alpha_beta {"s/module/#{inspect(Alpha)}", "s/module/#{inspect(Beta)}", :invoke}

  setup do
    start_supervised!({Observed, name: __MODULE__, instances: [], keep_ms: 0})
    Observed.reset(__MODULE__)
    on_exit(&Tracer.stop/0)
  end

  defp options(more) do
    Keyword.merge(
      [collector: __MODULE__, server: "s", modules: [Beta], accept_shared_tracing: true],
      more
    )
  end

  defp start!(more \\ []) do
    {:ok, pid} = Tracer.start(options(more))
    pid
  end

  defp counts do
    {:ok, graph} = Observed.snapshot(__MODULE__)
    Map.new(graph.edges, &{{&1.from, &1.to, &1.kind}, &1.weight})
  end

  defp until(fun, tries \\ 200) do
    unless fun.() do
      if tries == 0, do: flunk("it did not happen, counted: #{inspect(counts())}")
      Process.sleep(5)
      until(fun, tries - 1)
    end
  end

  # In a process of its own, as calls are.
  defp run(times),
    do: Task.await(Task.async(fn -> for _ <- 1..times, do: Alpha.run(" marker ") end))

  defp await_exit(pid), do: await_exit(pid, Process.monitor(pid))

  defp await_exit(pid, monitor) do
    assert_receive {:DOWN, ^monitor, :process, ^pid, reason}, 2_000
    reason
  end

  test "counts calls into the modules by the module that calls" do
    start!()
    run(3)
    until(fn -> counts() == %{@alpha_beta => 3} end)
  end

  test "counts what named processes send to named processes, by their names" do
    {:ok, other} = Agent.start_link(fn -> 0 end, name: __MODULE__.Other)

    sender =
      spawn_link(fn ->
        receive do
          :go ->
            for to <- [other, __MODULE__.Other, {__MODULE__.Other, node()}, spawn(fn -> :ok end)],
                do: send(to, "marker")
        end

        Process.sleep(:infinity)
      end)

    Process.register(sender, __MODULE__.Sender)
    start!(modules: [], processes: [__MODULE__.Sender])
    send(sender, :go)
    edge = {"s/process/#{__MODULE__}.Sender", "s/process/#{__MODULE__}.Other", :message}
    until(fn -> counts() == %{edge => 3} end)
  end

  test "stops when told, and records nothing after" do
    pid = start!()
    assert Tracer.stop() == :ok
    refute Process.alive?(pid)
    run(2)
    assert counts() == %{}
    assert Tracer.stop() == :ok
  end

  test "ends at its number of messages" do
    pid = start!(max_messages: 5)
    monitor = Process.monitor(pid)
    run(50)
    assert await_exit(pid, monitor) == {:limit, :max_messages, 5}
    assert Enum.all?(Map.values(counts()), &(&1 <= 5))
  end

  test "ends at its deadline" do
    pid = start!(max_duration_ms: 20)
    assert await_exit(pid) == {:limit, :max_duration_ms, 20}
  end

  test "ends with its collector" do
    pid = start!()
    monitor = Process.monitor(pid)
    :ok = stop_supervised(__MODULE__)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :collector_gone}, 2_000
  end

  test "ends with its companion, and stays when told to exit" do
    pid = start!()
    Process.exit(pid, :shutdown)
    run(1)
    until(fn -> counts() == %{@alpha_beta => 1} end)
    monitor = Process.monitor(pid)
    Process.exit(Process.whereis(Tracer), :kill)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :companion_gone}, 2_000
  end

  test "leaves nothing traced when it is killed" do
    pid = start!()
    companion = Process.monitor(Process.whereis(Tracer))
    Process.exit(pid, :kill)
    assert_receive {:DOWN, ^companion, :process, _pid, :normal}, 2_000
    run(1)
    assert counts() == %{}

    unless Session.own?() do
      assert :erlang.trace_info({Beta, :trim, 1}, :traced) == {:traced, false}
    end
  end

  test "leaves the trace of others alone where it has a session" do
    if Session.own?() do
      :erlang.trace_pattern({Beta, :trim, 1}, true, [:global])
      start!()
      run(1)
      Tracer.stop()
      assert :erlang.trace_info({Beta, :trim, 1}, :traced) == {:traced, :global}
      :erlang.trace_pattern({Beta, :trim, 1}, false, [:global])
    else
      assert {:error, {:shared_tracing, text}} =
               Tracer.start(options(accept_shared_tracing: false))

      assert text =~ "OTP #{System.otp_release()} has one trace"
      assert Process.whereis(Tracer) == nil
    end
  end

  test "one runs at a time" do
    start!()
    assert Tracer.start(options([])) == {:error, :already_running}
  end

  test "refuses what it cannot do, and leaves nothing set" do
    for {more, refusal} <- [
          {[collector: NoSuch], :collector_not_started},
          {[modules: []], {:missing, :modules}},
          {[modules: [:_]], {:invalid, :modules, [:_]}},
          {[modules: [No.Such]], {:invalid, :modules, [No.Such]}},
          {[server: :s], {:invalid, :server, :s}},
          {[processes: [:nobody]], {:not_registered, :nobody}},
          {[processes: ["x"]], {:invalid, :processes, ["x"]}},
          {[max_messages: 0], {:invalid, :max_messages, 0}},
          {[max_messages: :infinity], {:invalid, :max_messages, :infinity}},
          {[max_duration_ms: 4_294_967_296], {:invalid, :max_duration_ms, 4_294_967_296}},
          {[sign: :deny], {:unknown_key, :sign}}
        ] do
      assert Tracer.start(options(more)) == {:error, refusal}
    end

    assert Tracer.start(collector: X) == {:error, {:missing, :server}}
    assert Process.whereis(Tracer) == nil
    start!()
  end
end
