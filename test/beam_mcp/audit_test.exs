defmodule BeamMCP.AuditTest do
  use ExUnit.Case, async: true

  import BeamMCP.Test.Until

  import ExUnit.CaptureLog

  alias BeamMCP.{Audit, AuditLog, Decision, Instance}

  doctest BeamMCP.AuditLog

  defp start(audit, name \\ make_ref()) do
    start_supervised!({BeamMCP, name: name, audit: audit}, id: name)
    Instance.fetch!(name)
  end

  defp decision(instance, more \\ []) do
    struct!(
      %Decision{instance: instance.name, stage: :sender, outcome: :permit, at_ms: 1},
      more
    )
  end

  test "the host gets decisions in order, from one process" do
    test = self()
    instance = start(fn decision -> send(test, {decision.at_ms, self()}) end)
    for number <- 1..500, do: Audit.hand_over(instance, decision(instance, at_ms: number))
    assert_receive {500, pid}, 2_000
    for number <- 1..499, do: assert_received({^number, ^pid})
    assert BeamMCP.info!(instance.name).audit_dropped == 0
  end

  test "one that is slow loses what finds no room, and nobody waits for it" do
    test = self()

    instance =
      start(fn decision ->
        send(test, {:told, decision.at_ms, self()})
        if decision.at_ms == 0, do: receive(do: (:go_on -> :ok))
      end)

    for number <- 0..2_999, do: Audit.hand_over(instance, decision(instance, at_ms: number))
    assert BeamMCP.info!(instance.name).audit_dropped == 2_000
    assert_receive {:told, 0, pid}
    send(pid, :go_on)
    assert_receive {:told, 999, ^pid}, 2_000
    refute_received {:told, 1_000, ^pid}
    Audit.hand_over(instance, decision(instance, at_ms: 7_000))
    assert_receive {:told, 7_000, ^pid}
    assert BeamMCP.info!(instance.name).audit_dropped == 2_000
  end

  test "what it leaves behind disturbs nobody" do
    test = self()

    instance =
      start(fn decision ->
        for late <- [:late, {make_ref(), :answer}, {:DOWN, make_ref(), :process, test, :normal}],
            do: send(self(), late)

        send(test, {:told, decision.at_ms, self()})
      end)

    for number <- [1, 2], do: Audit.hand_over(instance, decision(instance, at_ms: number))
    assert_receive {:told, 1, pid}
    assert_receive {:told, 2, ^pid}
    assert :sys.get_state(pid).name == instance.name
    assert Process.info(pid, :message_queue_len) == {:message_queue_len, 0}
    assert BeamMCP.info!(instance.name).audit_dropped == 0
  end

  @tag :capture_log
  test "what it raises is logged, and costs nothing else" do
    test = self()

    instance =
      start(fn decision ->
        if decision.at_ms == 1, do: raise("on purpose"), else: send(test, decision.at_ms)
      end)

    log =
      capture_log(fn ->
        for number <- [1, 2], do: Audit.hand_over(instance, decision(instance, at_ms: number))
        assert_receive 2
      end)

    assert log =~ "audit failed: RuntimeError"
  end

  test "what waited for one that was killed counts as lost" do
    test = self()

    instance =
      start(fn _decision ->
        send(test, {:told, self()})
        Process.sleep(:infinity)
      end)

    for number <- 1..3, do: Audit.hand_over(instance, decision(instance, at_ms: number))
    assert_receive {:told, pid}
    Process.exit(pid, :kill)
    wait_until(fn -> Audit.dropped(instance) == 3 end)

    wait_until(fn ->
      match?([{_pid, _}], Registry.lookup(BeamMCP.Registry, {instance.name, Audit}))
    end)

    Audit.hand_over(instance, decision(instance))
    assert_receive {:told, _another}, 1_000
  end

  test "what waits when the instance stops is told" do
    test = self()
    instance = start(fn decision -> Process.sleep(5) && send(test, {:told, decision.at_ms}) end)
    for number <- 1..20, do: Audit.hand_over(instance, decision(instance, at_ms: number))
    stop_supervised!(instance.name)
    for number <- 1..20, do: assert_received({:told, ^number})
  end

  test "without an audit nothing is kept" do
    name = make_ref()
    start_supervised!({BeamMCP, name: name}, id: name)
    assert Instance.fetch!(name).audit == nil
    assert BeamMCP.info!(name).audit_dropped == 0
  end

  test "a line is one line, whatever names are declared" do
    decision = %Decision{
      instance: "a\nb",
      stage: :operation,
      outcome: :deny,
      reason: "insufficient_scope",
      at_ms: 1,
      method: "tools/call",
      definition: "two\nlines",
      principal: "5f0c1a7e",
      wanted: ["a", "b"],
      missing: ["b"],
      held: 1,
      denial: :challenge
    }

    assert AuditLog.line(decision) ==
             ~S(deny operation reason=insufficient_scope method=tools/call definition="two\nlines" ) <>
               ~S(principal=5f0c1a7e wanted="a b" missing="b" held=1 denial=challenge instance="a\nb")

    assert capture_log(fn -> AuditLog.log(decision) end) =~ "[BeamMCP] deny operation"
    assert capture_log(fn -> AuditLog.log(decision, :error) end) =~ "[error] [BeamMCP] deny"
  end
end
