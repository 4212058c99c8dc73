for file <- ~w(json message), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.HTTPLegacyTest do
  # The legacy era over HTTP (MCP 2025-11-25 basic/lifecycle and basic/transports): handshake, session, end.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message

  alias BeamMCP.Test.{EventStream, Json, RawHTTP, Wire}

  @moduletag :integration
  @name __MODULE__

  setup_all do
    start_supervised!({BeamMCP, Wire.options(@name)})
    {:ok, port: Wire.port(@name)}
  end

  setup %{port: port}, do: {:ok, session: session(port)}

  test "initialize answers with the revision, the server and a session", %{port: port} do
    response = RawHTTP.post(port, initialize(1))
    assert response.status == 200
    assert [id] = RawHTTP.header_values(response, "mcp-session-id")
    assert id =~ ~r/\A[\x21-\x7E]+\z/
    result = json(response)["result"]
    assert result["protocolVersion"] == "2025-11-25"
    assert Map.has_key?(result["capabilities"], "tools")
    refute Map.has_key?(result, "resultType")
  end

  test "initialize answers an unknown or modern revision with its newest legacy one", %{
    port: port
  } do
    for revision <- ["2026-07-28", "1999-01-01"] do
      response = RawHTTP.post(port, initialize(1, revision))
      assert json(response)["result"]["protocolVersion"] == "2025-11-25"
    end

    response = RawHTTP.post(port, initialize(1, "2025-06-18"))
    assert json(response)["result"]["protocolVersion"] == "2025-06-18"
  end

  test "X08: a notification without parameters is accepted", %{port: port, session: session} do
    body = ~S({"jsonrpc":"2.0","method":"notifications/initialized"})
    response = RawHTTP.post(port, body, headers: session)
    assert {response.status, response.body} == {202, ""}
  end

  test "X12: initialize cannot be cancelled", %{port: port, session: session} do
    assert RawHTTP.post(port, cancel(1), headers: session).status == 202
    assert RawHTTP.post(port, legacy(2, "ping"), headers: session).status == 200
  end

  test "lists, calls and pings", %{port: port, session: session} do
    assert post(port, session, legacy(1, "ping"))["result"] == %{}

    assert [%{"name" => "echo"} | _] =
             post(port, session, legacy(2, "tools/list"))["result"]["tools"]

    params = ~S({"name":"echo","arguments":{"text":"a"}})
    result = post(port, session, legacy("\"x\"", "tools/call", params))["result"]
    assert %{"content" => [%{"text" => "a"}]} = result
    refute Map.has_key?(result, "resultType")
  end

  test "X16: an unknown tool is an error, a failing tool a result", %{
    port: port,
    session: session
  } do
    answer = post(port, session, legacy(1, "tools/call", ~S({"name":"no_such_tool"})))
    assert answer["error"]["code"] == -32602
    answer = post(port, session, legacy(1, "tools/call", ~S({"name":"error"})))
    assert answer["result"]["isError"] == true
    answer = post(port, session, legacy(1, "tools/call", ~S({"name":"echo","arguments":{}})))
    assert answer["result"]["isError"] == true
  end

  test "X30: an unknown session is 404, a missing one 400", %{port: port} do
    unknown = [mcp_session_id: "unknown", mcp_protocol_version: "2025-11-25"]
    assert RawHTTP.post(port, legacy(1, "tools/list"), headers: unknown).status == 404
    missing = [mcp_protocol_version: "2025-11-25"]
    assert RawHTTP.post(port, legacy(1, "tools/list"), headers: missing).status == 400
  end

  test "DELETE ends the session", %{port: port, session: session} do
    assert RawHTTP.request(port, "DELETE", "/mcp", session).status in [200, 204]
    assert RawHTTP.post(port, legacy(1, "ping"), headers: session).status == 404
    assert RawHTTP.request(port, "DELETE", "/mcp", session).status == 404
  end

  test "GET opens the stream of its session", %{port: port, session: session} do
    stream = EventStream.get(port, session)
    assert %{message: nil, text: primed} = EventStream.next(stream)
    assert primed =~ ~r/\Aid: g[0-9a-f]+-0\nretry: \d+\ndata: \n/
    EventStream.close(stream)

    for {headers, status} <- [
          {session, 406},
          {Keyword.merge(session, accept: "text/event-stream", mcp_session_id: "unknown"), 404},
          {[accept: "text/event-stream"], 400}
        ] do
      headers = Keyword.put_new(headers, :accept, "application/json")
      assert RawHTTP.request(port, "GET", "/mcp", headers).status == status
    end
  end

  test "a disconnect cancels nothing, a notification does", %{port: port, session: session} do
    Wire.listen()
    call = legacy(5, "tools/call", ~S({"name":"mark"}))
    socket = RawHTTP.connect(port)
    headers = [content_type: "application/json", content_length: byte_size(call)] ++ session
    RawHTTP.write(socket, "POST", "/mcp", headers, call)
    assert_receive {:wire, {:running, 5}}, 2_000
    :gen_tcp.close(socket)
    refute_receive {:wire, {:cancelled, 5}}, 500
    assert RawHTTP.post(port, cancel(5), headers: session).status == 202
    assert_receive {:wire, {:cancelled, 5}}, 1_000
  end

  test "another session's cancellation does not reach the call", %{port: port, session: session} do
    Wire.listen()
    call = legacy(6, "tools/call", ~S({"name":"mark"}))
    task = Task.async(fn -> RawHTTP.post(port, call, headers: session) end)
    assert_receive {:wire, {:running, 6}}, 2_000
    assert RawHTTP.post(port, cancel(6), headers: session(port)).status == 202
    refute_receive {:wire, {:cancelled, 6}}, 300
    assert json(Task.await(task, 10_000))["result"]["content"]
  end

  defp session(port) do
    response = RawHTTP.post(port, initialize(1))
    [id] = RawHTTP.header_values(response, "mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"]
  end

  defp post(port, session, body), do: json(RawHTTP.post(port, body, headers: session))
  defp json(response), do: Json.decode!(response.body)
end
