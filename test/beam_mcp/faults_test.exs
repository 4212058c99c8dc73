defmodule BeamMCP.FaultsTest do
  # What a host does wrong costs one request. Many at a time: test/integration/faults_test.exs.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  import ExUnit.CaptureLog

  alias BeamMCP.Fixture.{Catalog, Client, Tools}
  alias BeamMCP.Instance

  setup context do
    options = [
      name: context.test,
      catalog: Catalog,
      dispatch: &Tools.call/3,
      call_timeout_ms: 1_000,
      cancel_grace_ms: 100,
      http: [authorize: :none, allowed_origins: [], port: 0]
    ]

    start_supervised!({BeamMCP, Keyword.merge(options, Map.get(context, :options, []))})
    {:ok, name: context.test, socket: Client.connect(context.test)}
  end

  for {tool, logged} <- [
        raise: "tool :raise failed: RuntimeError: the fixture raises",
        throw: "tool :throw failed: throw :fixture",
        exit: "tool :exit failed: exit :fixture",
        exit_normal: "tool :exit_normal failed: exit :normal",
        kill: ~s("kill": the process that ran the handler ended without an answer),
        hang: "ran longer than call_timeout_ms (1000)",
        wrong: "tool :wrong failed: ArgumentError: expected {:ok, value}",
        pid: "tool :pid returned what cannot be sent"
      ] do
    test "#{tool}: the caller reads a fixed text, the log says what happened", %{
      socket: socket,
      name: name
    } do
      log =
        capture_log(fn ->
          assert {200, body} = Client.call(socket, unquote(to_string(tool)))
          assert body =~ ~s("isError":true)
          assert body =~ "The tool failed."
          refute body =~ "fixture"
          wait_until(fn -> idle?(name) end)
          # What the native library has to report comes a moment later.
          Process.sleep(100)
        end)

      assert log =~ unquote(logged)
      assert {200, _body} = Client.call(socket, "echo", ~s({"value":1}))
    end
  end

  test "a reason that nobody reads is logged, by its kind", %{name: name} do
    fail = fn _arguments -> {:error, {:refused, "swordfish"}} end
    :ok = BeamMCP.register_tool(name, %BeamMCP.ToolSpec{name: "own"}, fail)
    client = BeamMCP.Test.connect!(name)

    for {tool, logged} <- [
          {"own", ~s(tool "own" returned {:error, {:refused, <<9 bytes>>}})},
          {"error", "tool :error returned {:error, :enoent}"}
        ] do
      log =
        capture_log(fn ->
          assert {:ok, %{"content" => [%{"text" => "The tool failed."}]}} =
                   BeamMCP.Test.call_tool(client, tool)
        end)

      assert log =~ logged
      refute log =~ "swordfish"
    end
  end

  @tag options: [dispatchers: 1, call_timeout_ms: 10_000]
  test "calls wait while a dispatcher is busy for seconds", %{name: name, socket: socket} do
    [dispatcher] = dispatchers(name)
    :sys.suspend(dispatcher)

    Client.send_call(socket, "echo", ~s({"value":1}))

    Process.sleep(1_500)
    assert %{calls: 1} = BeamMCP.info!(name)
    :sys.resume(dispatcher)
    assert {200, _body} = Client.response(socket)
    wait_until(fn -> idle?(name) end)
  end

  test "a call outlives its dispatcher, and can still be cancelled", %{name: name, socket: socket} do
    :persistent_term.put({Tools, :listener}, self())
    Client.send_call(socket, "cancel_marker")
    assert_receive {:running, 1, pid}, 5_000
    ref = Process.monitor(pid)
    kill_dispatchers(name)
    wait_until(fn -> BeamMCP.info!(name).dispatchers > 0 end)
    assert %{calls: 1, tokens: 1} = BeamMCP.info!(name)
    Client.close(socket)
    assert_receive {:cancelled, 1}, 5_000
    assert_receive {:DOWN, ^ref, :process, ^pid, :killed}, 5_000
    wait_until(fn -> idle?(name) end)
  end

  for ending <- [:kill_owner, :stop] do
    @tag options: [call_timeout_ms: 60_000, drain_timeout_ms: 100]
    test "calls end with their instance: #{ending}", %{name: name, socket: socket} do
      :persistent_term.put({Tools, :listener}, self())
      Client.send_call(socket, "cancel_marker")
      assert_receive {:running, 1, pid}, 5_000
      ref = Process.monitor(pid)
      finish(unquote(ending), name)
      assert_receive {:DOWN, ^ref, :process, ^pid, :killed}, 5_000
    end
  end

  defp finish(:stop, name), do: BeamMCP.stop(name)

  defp finish(:kill_owner, name) do
    name |> supervisor() |> child(Instance.Owner) |> Process.exit(:kill)
  end

  describe "a client that goes away" do
    setup do
      :persistent_term.put({Tools, :listener}, self())
      :ok
    end

    test "cancels its call: on_cancel runs, then the process is killed", %{
      name: name,
      socket: socket
    } do
      Client.send_call(socket, "cancel_marker")
      assert_receive {:running, 1, pid}, 5_000
      ref = Process.monitor(pid)
      Client.close(socket)
      assert_receive {:cancelled, 1}, 5_000
      assert_receive {:cancelled, 1}, 5_000
      assert_receive {:DOWN, ^ref, :process, ^pid, :killed}, 5_000
      wait_until(fn -> idle?(name) end)
      wait_until(fn -> cancellations() == 0 end)
    end

    test "makes no noise in the log", %{name: name, socket: socket} do
      log =
        capture_log(fn ->
          Client.send_call(socket, "cancel_marker")
          assert_receive {:running, 1, pid}, 5_000
          ref = Process.monitor(pid)
          Client.close(socket)
          assert_receive {:DOWN, ^ref, :process, ^pid, :killed}, 5_000
          wait_until(fn -> idle?(name) end)
        end)

      refute log =~ "[BeamMCP]"
    end
  end

  defp kill_dispatchers(name) do
    for pid <- dispatchers(name), do: Process.exit(pid, :kill)
    Process.sleep(20)
  end

  defp dispatchers(name) do
    services = name |> supervisor() |> child(:services)

    for {_id, pid, _type, _modules} <- Supervisor.which_children(child(services, :dispatchers)),
        do: pid
  end

  defp supervisor(name), do: GenServer.whereis(Instance.via(name, :supervisor))

  defp child(supervisor, id) do
    {^id, pid, _type, _modules} = supervisor |> Supervisor.which_children() |> List.keyfind(id, 0)
    pid
  end

  defp cancellations do
    Registry.count_select(BeamMCP.Registry, [
      {{{:_, {BeamMCP.Cancellation, :_}}, :_, :_}, [], [true]}
    ])
  end

  defp idle?(name), do: match?(%{calls: 0, tokens: 0, buffered_bytes: 0}, BeamMCP.info!(name))
end
