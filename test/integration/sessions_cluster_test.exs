for file <- ~w(json message cluster), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.SessionsClusterTest do
  # Legacy sessions on several nodes behind no stickiness: each request goes where it likes.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message
  import BeamMCP.Test.Until

  alias BeamMCP.SessionStore.Mnesia
  alias BeamMCP.Test.{Atoms, Cluster, EventStream, Json, RawHTTP}

  @moduletag :integration
  @moduletag timeout: 120_000

  setup context do
    store = {Mnesia, majority: Map.get(context, :majority, true)}
    options = [namespace: :cluster, session_store: store]
    cluster = Cluster.start(Map.get(context, :nodes, 2), options)
    on_exit(fn -> Cluster.stop_nodes(cluster) end)
    {:ok, cluster: cluster, options: options}
  end

  test "a session opens on one node and is used and ended on another", %{cluster: [a, b]} do
    session = session(a)
    assert result(b, session, legacy(1, "ping")) == %{}
    assert %{"content" => [%{"text" => "hi"}]} = result(b, session, echo(2, "hi"))

    stream = EventStream.get(a.port, session)
    assert %{message: nil} = EventStream.next(stream)
    assert result(b, session, legacy(3, "logging/setLevel", ~S({"level":"debug"}))) == %{}
    :ok = Cluster.call(b, BeamMCP, :notify_changed, [:there, :tools])
    assert EventStream.method(stream) == "notifications/tools/list_changed"

    {us, response} = :timer.tc(fn -> RawHTTP.request(b.port, "DELETE", "/mcp", session) end)
    assert response.status in [200, 204]
    assert us < 1_000_000
    assert EventStream.next(stream) == :end
    assert RawHTTP.post(a.port, legacy(4, "ping"), headers: session).status == 404
  end

  test "a response that reaches another node reaches the call that asked", %{cluster: [a, b]} do
    session = session(a, ~S({"roots":{}}))
    stream = calling(a, session, legacy(7, "tools/call", ~S({"name":"roots"})))
    %{"method" => "roots/list", "id" => id} = EventStream.next(stream).message

    stranger = session(b, ~S({"roots":{}}))
    assert RawHTTP.post(b.port, roots(id), headers: stranger).status == 202
    assert EventStream.silent?(stream)

    {us, response} = :timer.tc(fn -> RawHTTP.post(b.port, roots(id), headers: session) end)
    assert response.status == 202
    assert us < 1_000_000
    assert %{"id" => 7, "result" => result} = EventStream.next(stream).message
    assert %{"content" => [%{"text" => text}]} = result
    assert text =~ "file:///a"
    wait_until(fn -> Cluster.info(a).calls == 0 end)
  end

  test "a cancellation that reaches another node reaches the call", %{cluster: [a, b]} do
    session = session(a)
    stream = calling(a, session, legacy(5, "tools/call", ~S({"name":"mark"})))
    assert_receive {:wire, {:running, 5}}, 2_000
    assert RawHTTP.post(b.port, cancel(5), headers: session(b)).status == 202
    refute_receive {:wire, {:cancelled, 5}}, 200
    assert RawHTTP.post(b.port, cancel(5), headers: session).status == 202
    assert_receive {:wire, {:cancelled, 5}}, 1_000
    assert EventStream.next(stream) == :end
    wait_until(fn -> Cluster.info(a).calls == 0 end)
  end

  test "the end of a session ends its calls on every node", %{cluster: [a, b]} do
    session = session(b)
    _stream = calling(a, session, legacy(6, "tools/call", ~S({"name":"mark"})))
    assert_receive {:wire, {:running, 6}}, 2_000
    assert RawHTTP.request(b.port, "DELETE", "/mcp", session).status in [200, 204]
    assert_receive {:wire, {:cancelled, 6}}, 1_000
  end

  test "what nobody waits for is taken in silence and makes no atoms", %{cluster: [a, b]} do
    session = session(a)
    assert RawHTTP.post(b.port, cancel(1), headers: session).status == 202

    for_nobody = fn number ->
      assert RawHTTP.post(b.port, cancel(~s("id-#{number}")), headers: session).status == 202
      assert RawHTTP.post(b.port, roots("1-0-#{number}"), headers: session).status == 202
    end

    count = fn -> Cluster.call(a, :erlang, :system_info, [:atom_count]) end
    assert Atoms.made(200, for_nobody, count) < 50
    assert %{calls: 0, tokens: 0} = Cluster.info(b)
  end

  @tag majority: false
  test "a node that is killed loses its open streams and nothing else", %{cluster: [a, b]} do
    session = session(a)
    stream = calling(a, session, legacy(5, "tools/call", ~S({"name":"mark"})))
    assert_receive {:wire, {:running, 5}}, 2_000
    other = calling(b, session, legacy(6, "tools/call", ~S({"name":"mark"})))
    assert_receive {:wire, {:running, 6}}, 2_000
    Cluster.kill(a)
    assert {:error, :closed} = :gen_tcp.recv(stream, 0, 2_000)
    assert result(b, session, legacy(7, "ping")) == %{}
    assert %{"id" => 6, "result" => _result} = EventStream.next(other).message
    refute_received {:wire, {:running, _again}}
    assert RawHTTP.request(b.port, "DELETE", "/mcp", session).status in [200, 204]
  end

  test "two nodes are restarted in turn: what runs is answered once, streams go on elsewhere", %{
    cluster: [a, b],
    options: options
  } do
    session = session(a)
    a = restarted(a, b, session, options)
    _b = restarted(b, a, session, options)
  end

  @tag nodes: 3
  test "of three nodes one may be lost, and one alone answers 503", %{cluster: [a, b, c]} do
    session = session(a)
    Cluster.kill(a)
    for one <- [b, c], do: assert(result(one, session, legacy(1, "ping")) == %{})
    fresh = session(b)
    assert result(c, fresh, legacy(2, "ping")) == %{}

    Cluster.kill(b)
    wait_until(fn -> RawHTTP.post(c.port, legacy(3, "ping"), headers: fresh).status == 503 end)
    assert RawHTTP.post(c.port, initialize(1)).status == 503
    assert RawHTTP.request(c.port, "DELETE", "/mcp", fresh).status == 503
    assert RawHTTP.modern(c.port, "tools/list").status == 200
  end

  # Restarts the instance of `one` while a call of it runs, streams of it are open, and `other` serves the same session.
  defp restarted(one, other, session, options) do
    sleep = ~S({"name":"sleep","arguments":{"ms":800}})
    stream = calling(one, session, legacy(1, "tools/call", sleep))
    open = streams(one, session)
    wait_until(fn -> Cluster.info(one).calls == 1 end)
    stopping = Task.async(fn -> Cluster.stop(one) end)
    assert result(other, session, legacy(2, "ping")) == %{}
    ended(open)
    told(streams(other, session), other)
    answer = EventStream.next(stream).message
    assert %{"id" => 1, "result" => %{"content" => [%{"text" => "800"}]}} = answer
    assert EventStream.next(stream) == :end
    Task.await(stopping, 10_000)
    assert result(other, session, legacy(3, "ping")) == %{}
    again = Cluster.serve(one, options)
    assert result(again, session, legacy(4, "ping")) == %{}
    again
  end

  # A stream of changes of each era.
  defp streams(one, session) do
    {listening, _honoured} = EventStream.listen(one.port, %{toolsListChanged: true})
    standing = EventStream.get(one.port, session)
    %{message: nil} = EventStream.next(standing)
    {listening, standing}
  end

  # As each protocol says: with the result of what was asked, and with nothing.
  defp ended({listening, standing}) do
    assert %{"result" => %{"resultType" => "complete"}} = EventStream.next(listening).message
    for stream <- [listening, standing], do: assert(EventStream.next(stream) == :end)
  end

  defp told({listening, standing}, one) do
    :ok = Cluster.call(one, BeamMCP, :notify_changed, [:there, :tools])

    for stream <- [listening, standing] do
      assert EventStream.method(stream) == "notifications/tools/list_changed"
      EventStream.close(stream)
    end
  end

  defp session(one, capabilities \\ "{}") do
    hello =
      String.replace(initialize(1), ~s("capabilities":{}), ~s("capabilities":#{capabilities}))

    [id] = one.port |> RawHTTP.post(hello) |> RawHTTP.header_values("mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"]
  end

  defp result(one, session, body),
    do: Json.decode!(RawHTTP.post(one.port, body, headers: session).body)["result"]

  defp echo(id, text),
    do: legacy(id, "tools/call", ~s({"name":"echo","arguments":{"text":"#{text}"}}))

  # The stream of a call, whose client reads nothing else.
  defp calling(one, session, body) do
    stream = EventStream.post_legacy(one.port, session, body)
    # It begins with the place to come back to.
    %{message: nil} = EventStream.next(stream)
    stream
  end

  defp roots(id),
    do: ~s({"jsonrpc":"2.0","id":"#{id}","result":{"roots":[{"uri":"file:///a"}]}})
end
