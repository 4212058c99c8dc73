for file <- ~w(json cluster), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.ParkingClusterTest do
  # Handlers that wait on one node for a client which comes back to another.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  alias BeamMCP.Test.{Atoms, Cluster, Json, RawHTTP}

  @moduletag :integration
  @moduletag timeout: 120_000

  setup do
    cluster = Cluster.start(2, namespace: :parking)
    on_exit(fn -> Cluster.stop_nodes(cluster) end)
    {:ok, cluster: cluster}
  end

  test "the retry on another node resumes the handler where it is", %{cluster: [a, b]} do
    state = asked(a)
    handler = parked_on(a)
    assert %{parked: 1, calls: 0} = Cluster.info(a)
    {us, result} = :timer.tc(fn -> retry(b, state) end)
    assert us < 1_000_000
    assert text(result) =~ "#{a.node} {:ok, [%{"
    node = a.node
    assert_receive {:wire, {:resumed, ^node, ^handler}}
    refute_received {:wire, {:parked, _node, _again}}
    for one <- [a, b], do: idle(one)
  end

  test "resuming makes no atoms of what comes from elsewhere", %{cluster: [a, b]} do
    resume(a, b)
    # By now all code that it takes is loaded.
    count = fn -> Cluster.call(b, :erlang, :system_info, [:atom_count]) end
    assert Atoms.made(1, fn _number -> resume(a, b) end, count) == 0
  end

  test "the node of a parked handler is lost: it is run again elsewhere", %{cluster: [a, b]} do
    state = asked(a)
    parked_on(a)
    Cluster.kill(a)
    assert text(retry(b, state)) =~ "#{b.node} {:ok, [%{"
    assert_receive {:wire, {:parked, node, _again}} when node == b.node
    idle(b)
  end

  test "the node is lost while the handler runs on: the client gets one answer", %{
    cluster: [a, b]
  } do
    state = asked(a)
    parked_on(a)
    task = Task.async(fn -> retry(b, state, "slow") end)
    node = a.node
    assert_receive {:wire, {:resumed, ^node, _handler}}, 2_000
    Cluster.kill(a)
    assert text(Task.await(task, 10_000)) =~ "#{b.node} {:ok, [%{"
    idle(b)
  end

  test "an instance that stops in good order hands its handlers over", %{cluster: [a, b]} do
    state = asked(a)
    parked_on(a)
    :ok = Cluster.stop(a)
    assert text(retry(b, state)) =~ "#{b.node} {:ok, [%{"
    idle(b)
  end

  test "the same round on two nodes at once resumes the handler once, and runs it again once", %{
    cluster: [a, b]
  } do
    for _ <- 1..10 do
      state = asked(a)
      handler = parked_on(a)
      answers = Task.await_many(for one <- [a, b], do: Task.async(fn -> retry(one, state) end))
      for answer <- answers, do: assert(text(answer) =~ "{:ok, [%{")
      assert_receive {:wire, {:resumed, _a, ^handler}}
      assert_receive {:wire, {:parked, _node, again}}
      assert_receive {:wire, {:resumed, _node, ^again}}
      refute_received {:wire, {_any, _node, _third}}
    end

    for one <- [a, b], do: idle(one)
  end

  test "a client that leaves the other node takes the handler along", %{cluster: [a, b]} do
    state = asked(a)
    parked_on(a)
    socket = RawHTTP.connect(b.port)
    body = body(state, "slow")
    headers = [content_type: "application/json", content_length: byte_size(body)] ++ headers()
    RawHTTP.write(socket, "POST", "/mcp", headers, body)
    node = a.node
    assert_receive {:wire, {:resumed, ^node, handler}}, 2_000
    monitor = Process.monitor(handler)
    :gen_tcp.close(socket)
    assert_receive {:DOWN, ^monitor, :process, ^handler, _reason}, 3_000
    for one <- [a, b], do: idle(one)
  end

  defp resume(a, b) do
    state = asked(a)
    parked_on(a)
    assert text(retry(b, state)) =~ "#{a.node} {:ok, [%{"
    for one <- [a, b], do: idle(one)
  end

  defp asked(one) do
    %{"result" => %{"resultType" => "input_required", "requestState" => state}} =
      post(one, body(nil, nil))

    state
  end

  defp retry(one, state, name \\ "a"), do: post(one, body(state, name))["result"]

  defp post(one, body),
    do: Json.decode!(last(RawHTTP.post(one.port, body, headers: headers())))

  # A call that tells its progress is answered by a stream, whose last event is the answer.
  defp last(response) do
    case RawHTTP.events(response) do
      [] -> response.body
      events -> List.last(events)
    end
  end

  defp body(state, name) do
    more =
      if state,
        do:
          ~s(,"inputResponses":{"input-1":{"roots":[{"uri":"file:///#{name}"}]}},"requestState":"#{state}"),
        else: ""

    capabilities = ~S("io.modelcontextprotocol/clientCapabilities":{)

    "tools/call"
    |> RawHTTP.body(~s("name":"parked","arguments":{}#{more}))
    |> String.replace(capabilities, capabilities <> ~S("roots":{}))
    |> String.replace(~S("_meta":{), ~S("_meta":{"progressToken":1,))
  end

  defp headers do
    [
      accept: "application/json, text/event-stream",
      mcp_protocol_version: "2026-07-28",
      mcp_method: "tools/call",
      mcp_name: "parked"
    ]
  end

  defp parked_on(one) do
    node = one.node
    assert_receive {:wire, {:parked, ^node, handler}}, 2_000
    handler
  end

  defp text(%{"content" => [%{"text" => text}]}), do: text

  defp idle(one),
    do: wait_until(fn -> match?(%{parked: 0, calls: 0, tokens: 0}, Cluster.info(one)) end)
end
