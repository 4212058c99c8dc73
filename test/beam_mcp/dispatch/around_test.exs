defmodule BeamMCP.Dispatch.AroundTest do
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias BeamMCP.Fixture.{Catalog, Client, Tools}
  alias BeamMCP.{Context, Report}

  @http [authorize: :none, allowed_origins: [], port: 0]

  defp start(test, options) do
    start_supervised!(
      {BeamMCP,
       [name: test.test, catalog: Catalog, dispatch: &dispatch/3, http: @http] ++ options}
    )

    Client.connect(test.test)
  end

  # The fixture's tools, and what the context and the process hold.
  def dispatch(:context, _arguments, context),
    do: {:ok, %{host: context.host, ready: Process.get(:ready, false)}}

  def dispatch(name, arguments, context), do: Tools.call(name, arguments, context)

  defp called(socket, tool) do
    {200, body} = Client.call(socket, tool)
    body
  end

  test "handler_task_init runs first, in the process of the call", test do
    socket = start(test, handler_task_init: fn -> Process.put(:ready, true) end)
    assert called(socket, "context") =~ ~s("structuredContent":{"host":{},"ready":true})
  end

  test "handler_task_init may take the context, and fails the call with its own fault", test do
    init = fn %Context{method: "tools/call"} -> raise "no database" end
    socket = start(test, handler_task_init: init)
    {body, log} = with_log(fn -> called(socket, "context") end)
    assert body =~ "The tool failed."
    assert log =~ "handler_task_init failed: RuntimeError: no database"
  end

  describe "context_builder" do
    test "makes context.host", test do
      socket = start(test, context_builder: fn context -> %{seen: context.method} end)
      assert called(socket, "context") =~ ~s("host":{"seen":"tools/call"})
    end

    test "fails the call when it makes no map, or too large a one", test do
      socket = start(test, context_builder: {:persistent_term, :get, []})
      {body, log} = with_log(fn -> called(socket, "context") end)
      assert body =~ "The tool failed."
      assert log =~ "context_builder failed: "
      stop_supervised!(test.test)

      socket = start(test, context_builder: fn _ -> %{large: String.duplicate("a", 65_536)} end)
      {body, log} = with_log(fn -> called(socket, "context") end)
      assert body =~ "The tool failed."
      assert log =~ "bytes, at most 65536 are kept"
      stop_supervised!(test.test)

      socket = start(test, context_builder: fn _ -> [:swordfish] end)
      {_body, log} = with_log(fn -> called(socket, "context") end)
      assert log =~ "expected a map, got a list"
    end

    test "is ended when it takes too long, and the call with it", test do
      options = [context_builder: fn _ -> Process.sleep(:infinity) end, hook_timeout_ms: 50]
      socket = start(test, options)
      {body, log} = with_log(fn -> called(socket, "context") end)
      assert body =~ "The tool failed."
      assert log =~ "what runs before a handler took longer than 50 ms"
    end
  end

  describe "exception_reporter" do
    test "gets everything of a failure, after the caller had its answer", test do
      me = self()
      socket = start(test, exception_reporter: fn report -> send(me, report) end)

      {_bodies, _log} =
        with_log(fn ->
          for tool <- ~w(raise throw exit pid wrong), do: assert(called(socket, tool) =~ "failed")
        end)

      assert_receive %Report{kind: :error, reason: %RuntimeError{}, offer: {:tool, :raise}} =
                       report

      assert [{Tools, :call, 3, _location} | _rest] = report.stacktrace
      assert %Context{method: "tools/call"} = report.context
      assert_receive %Report{kind: :throw, reason: :fixture, offer: {:tool, :throw}}
      assert_receive %Report{kind: :exit, reason: :fixture, offer: {:tool, :exit}}
      assert_receive %Report{kind: :error, reason: %ArgumentError{}, offer: {:tool, :pid}}
      assert_receive %Report{kind: :error, reason: %ArgumentError{}, offer: {:tool, :wrong}}
    end

    test "that fails or hangs is logged and changes nothing", test do
      reporter = fn
        %Report{offer: {:tool, :raise}} -> raise "on fire"
        _report -> Process.sleep(:infinity)
      end

      socket = start(test, exception_reporter: reporter, hook_timeout_ms: 50)

      log =
        capture_log(fn ->
          assert called(socket, "raise") =~ "The tool failed."
          assert called(socket, "throw") =~ "The tool failed."
          Process.sleep(200)
        end)

      assert log =~ "exception_reporter failed: RuntimeError: on fire"
      assert log =~ "exception_reporter took longer than 50 ms"
    end
  end

  describe "telemetry_metadata" do
    setup do
      test = self()
      :telemetry.attach(fn event, _measurements, metadata -> send(test, {event, metadata}) end)
      on_exit(&:telemetry.detach/0)
    end

    test "is in the metadata of dispatch events", test do
      more = fn context -> %{tenant: "t", era: String.slice(context.revision, 0, 4)} end
      socket = start(test, telemetry_metadata: more)
      called(socket, "context")

      for event <- [:start, :stop] do
        assert_receive {[:beam_mcp, :dispatch, ^event],
                        %{tool: :context, tenant: "t", era: "2026"}}
      end
    end

    test "that is wrong is left out and logged; the call goes on", test do
      for {wrong, message} <- [
            {[{:tool, "another"}], "the key tool is taken"},
            {%{principal: 1}, "the key principal is taken"},
            {%{"key" => 1}, "expected atom keys, got a binary"},
            {%{key: %{}}, "key is no atom, number or string of 256 bytes"},
            {%{key: String.duplicate("a", 257)}, "key is no atom, number or string"},
            {Map.new(1..17, &{:"key#{&1}", &1}), "17 entries, at most 16 are taken"},
            {:none, "telemetry_metadata failed"}
          ] do
        socket = start(test, telemetry_metadata: fn _context -> wrong end)
        {body, log} = with_log(fn -> called(socket, "context") end)
        assert body =~ "structuredContent"
        assert log =~ message
        assert_receive {[:beam_mcp, :dispatch, :start], %{tool: :context} = metadata}
        assert metadata.principal == :anonymous
        refute Map.has_key?(metadata, :key)
        stop_supervised!(test.test)
      end
    end
  end

  test "an instance without functions has none", test do
    start(test, [])
    assert BeamMCP.Instance.fetch!(test.test).around == nil
  end
end
