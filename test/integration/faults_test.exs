Code.require_file("support/json.exs", __DIR__)

defmodule BeamMCP.Integration.FaultsTest do
  # What a host does wrong costs the one call that it happens to: every caller gets an answer, and nothing is left over.
  use ExUnit.Case, async: false

  alias BeamMCP.{Dispatcher, Instance, Native}
  alias BeamMCP.Test.{Atoms, Json, RawHTTP, Wire}

  @moduletag :integration
  @moduletag timeout: 180_000
  @name __MODULE__
  @failed "The tool failed."

  setup do
    options = [call_timeout_ms: 700, cancel_grace_ms: 50, max_result_bytes: 16_000_000]

    start_supervised!(
      {BeamMCP, Wire.options(@name, [http: [max_body_bytes: 8_000_000]] ++ options)}
    )

    Wire.listen()
    {:ok, port: Wire.port(@name)}
  end

  describe "200 calls that raise, exit, are killed or hang" do
    test "are 200 answers", %{port: port} do
      calls = start_calls(port)
      kill_from_outside(50)
      assert_all_fail(calls)
      assert_nothing_left(port)
    end

    test "are 200 answers when dispatchers are killed meanwhile", %{port: port} do
      calls = start_calls(port)

      for _round <- 1..5 do
        Enum.each(dispatchers(), &Process.exit(&1, :kill))
        Process.sleep(50)
      end

      assert_all_fail(calls)
      assert_nothing_left(port)
    end

    test "are 200 answers when a dispatcher is busy for seconds", %{port: port} do
      [busy | _rest] = dispatchers()
      :sys.suspend(busy)
      calls = start_calls(port)
      Process.sleep(2_000)
      assert_all_fail(calls)
      :sys.resume(busy)
      assert_nothing_left(port)
    end
  end

  test "X05: names from the wire never become atoms", %{port: port} do
    socket = RawHTTP.connect(port)
    call_with_new_names(socket, 0)
    assert Atoms.made(10_000, &call_with_new_names(socket, &1)) == 0
  end

  # The longest thread CPU time of each native function that runs on a normal scheduler.
  test "no call holds a scheduler for a millisecond", %{port: port} do
    for {shape, tool, arguments} <- large_arguments() do
      Native.reset_times()
      response = RawHTTP.call(port, tool, arguments)
      assert %{"result" => result} = Json.decode!(response.body)
      refute result["isError"], shape

      for {function, nanoseconds} <- Native.times(), function not in dirty_functions() do
        assert nanoseconds <= 1_000_000, "#{function} took #{nanoseconds} ns for #{shape}"
      end
    end
  end

  defp start_calls(port) do
    for number <- 1..200 do
      tool = Enum.at(~w(raise exit kill hang), rem(number, 4))
      socket = RawHTTP.connect(port)
      RawHTTP.write_call(socket, tool, "{}", Integer.to_string(number))
      {number, socket}
    end
  end

  defp kill_from_outside(0), do: :ok

  defp kill_from_outside(count) do
    assert_receive {:wire, {:kill, pid}}, 5_000
    Process.exit(pid, :kill)
    kill_from_outside(count - 1)
  end

  defp assert_all_fail(calls) do
    for {number, socket} <- calls do
      response = RawHTTP.read(socket)
      :gen_tcp.close(socket)
      assert %{"id" => ^number, "result" => result} = Json.decode!(response.body)
      assert %{"isError" => true, "content" => [%{"text" => @failed}]} = result
    end
  end

  defp assert_nothing_left(port) do
    response = RawHTTP.call(port, "echo", ~S({"text":"alive"}))
    assert %{"result" => %{"content" => [%{"text" => "alive"}]}} = Json.decode!(response.body)
    assert settled?(100), inspect(BeamMCP.info!(@name))
  end

  # Processes end, and tokens with them, a little after the answer.
  defp settled?(0), do: false

  defp settled?(tries) do
    case BeamMCP.info!(@name) do
      %{calls: 0, tokens: 0, connections: 0} ->
        true

      _busy ->
        Process.sleep(50)
        settled?(tries - 1)
    end
  end

  defp dispatchers,
    do: @name |> Instance.via(:supervisor) |> workers() |> Enum.filter(&dispatcher?/1)

  defp workers(supervisor) do
    Enum.flat_map(Supervisor.which_children(supervisor), fn
      {_id, pid, :supervisor, _modules} when is_pid(pid) -> workers(pid)
      {_id, pid, :worker, _modules} when is_pid(pid) -> [pid]
      _restarting -> []
    end)
  end

  defp dispatcher?(pid) do
    match?({Dispatcher, _function, _arity}, :proc_lib.translate_initial_call(pid))
  end

  defp call_with_new_names(socket, number) do
    unknown = "tool_of_#{number}"
    RawHTTP.call(socket, unknown)
    RawHTTP.call(socket, "any", ~s({"key_of_#{unknown}":{"inner_#{unknown}":1}}))
  end

  defp large_arguments do
    string = String.duplicate("a", 1_048_576)
    integers = Enum.map_join(1..500_000, ",", fn _ -> "1" end)
    maps = Enum.map_join(1..40_000, ",", &~s({"n":#{&1}}))

    [
      {"one string", "echo", ~s({"text":"#{string}"})},
      {"integers", "any", ~s({"value":[#{integers}]})},
      {"maps", "any", ~s({"value":[#{maps}]})}
    ]
  end

  defp dirty_functions, do: ~w(accept_large reply_large encode_large catalog_compile http_start)a
end
