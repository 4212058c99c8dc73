Code.require_file("support/json.exs", __DIR__)

defmodule BeamMCP.HTTPTrialsTest do
  # Inputs that broke other servers, over HTTP. Each test carries the number of its trial; those of the order of checks
  # are in http_ladder_test.exs, those of the legacy era in http_legacy_test.exs.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{Json, RawHTTP, Wire}

  @moduletag :integration
  @name __MODULE__

  setup_all do
    http = [allowed_origins: ["https://app.example"]]
    start_supervised!({BeamMCP, Wire.options(@name, http: http)})
    {:ok, port: Wire.port(@name)}
  end

  test "G01: a null id is refused and nothing runs", %{port: port} do
    response = RawHTTP.modern(port, "tools/list", "", id: "null")
    assert response.status == 400
    assert %{"error" => %{"code" => -32600}} = answer = json(response)
    refute Map.has_key?(answer, "id")
  end

  test "G03: ids come back with their type, and \"1\" is not 1", %{port: port} do
    sockets = for id <- [~S("init-1"), ~S("1"), "1"], do: {id, RawHTTP.connect(port)}
    for {id, socket} <- sockets, do: RawHTTP.write_call(socket, "sleep", ~S({"ms":50}), id)
    assert for({_id, s} <- sockets, do: json(RawHTTP.read(s))["id"]) == ["init-1", "1", 1]
  end

  test "G04: member names are matched by case", %{port: port} do
    body = RawHTTP.body("tools/list")
    upper = String.replace(body, ~S("method"), ~S("Method"))
    assert code(RawHTTP.modern(port, "tools/list", "", body: upper)) == -32600
    both = String.replace(body, ~S("method"), ~S("Method":"tools/call","method"))
    assert %{"tools" => _} = json(RawHTTP.modern(port, "tools/list", "", body: both))["result"]
  end

  test "G05: an equal key is refused by name at any depth", %{port: port} do
    for arguments <- [~S({"a":1,"a":2}), ~S({"b":{"a":1,"\u0061":2}})] do
      response = RawHTTP.call(port, "any", arguments)
      assert {response.status, code(response)} == {400, -32600}
      assert json(response)["error"]["message"] =~ ~S("a")
    end
  end

  test "G06: deep nesting is refused and the connection lives", %{port: port} do
    socket = RawHTTP.connect(port)
    brackets = String.duplicate("[", 524_288)
    body = RawHTTP.body("tools/call", ~s("name":"any","arguments":#{brackets}))
    response = RawHTTP.modern(socket, "tools/call", ~S("name":"any"), body: body)
    assert {response.status, code(response)} == {400, -32600}
    assert RawHTTP.modern(socket, "tools/list").status == 200
  end

  test "G07: wide accepts are served", %{port: port} do
    for accept <- ["*/*", "application/*, text/*;q=0.5", "application/json", nil] do
      assert RawHTTP.modern(port, "tools/list", "", headers: [accept: accept]).status == 200
    end
  end

  test "G09: every value of a repeated header counts", %{port: port} do
    for headers <- [
          [mcp_method: ["tools/call", "tools/list"]],
          [mcp_name: ["echo", "any"]],
          [mcp_protocol_version: ["2026-07-28", "2025-11-25"]]
        ] do
      response = RawHTTP.call(port, "echo", ~S({"text":"a"}), headers: headers)
      assert {response.status, code(response)} == {400, -32020}, inspect(headers)
    end
  end

  test "G10: the server's own host and origin are served", %{port: port} do
    headers = [host: "localhost:#{port}", origin: "http://localhost:#{port}"]
    assert RawHTTP.modern(port, "tools/list", "", headers: headers).status == 200
  end

  test "G11: equal ids on two connections do not mix", %{port: port} do
    tasks = for text <- ["a", "b"], do: Task.async(fn -> echoes(port, text, 250) end)
    assert Enum.all?(Task.await_many(tasks, 60_000))
  end

  test "G12: closing the connection cancels the call", %{port: port} do
    Wire.listen()
    socket = RawHTTP.connect(port)
    RawHTTP.write_call(socket, "mark", "{}", ~S("gone"))
    assert_receive {:wire, {:running, "gone"}}, 2_000
    :gen_tcp.close(socket)
    assert_receive {:wire, {:cancelled, "gone"}}, 1_000
    refute_receive {:wire, {:finished, "gone"}}, 3_500
    assert %{calls: 0, tokens: 0} = BeamMCP.info!(@name)
  end

  test "G18: a preflight of an allowed origin allows every header", %{port: port} do
    names = "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-param-region"

    headers = [
      origin: "https://app.example",
      access_control_request_method: "POST",
      access_control_request_headers: names
    ]

    response = RawHTTP.request(port, "OPTIONS", "/mcp", headers)
    assert response.status == 204
    [allowed] = RawHTTP.header_values(response, "access-control-allow-headers")
    allowed = allowed |> String.downcase() |> String.split(~r/ *, */)
    assert String.split(names, ",") -- allowed == []

    assert RawHTTP.header_values(response, "access-control-allow-origin") == [
             "https://app.example"
           ]

    assert response |> RawHTTP.header_values("vary") |> Enum.join() =~ ~r/origin/i

    foreign = Keyword.put(headers, :origin, "https://evil.example")
    assert RawHTTP.request(port, "OPTIONS", "/mcp", foreign).status == 403
  end

  test "G19: a slash at the end is served, another path is not", %{port: port} do
    assert RawHTTP.modern(port, "tools/list", "", path: "/mcp/").status == 200
    response = RawHTTP.modern(port, "tools/list", "", path: "/other")
    assert response.status == 404
    assert json(response)["error"]["message"] =~ "/mcp"
  end

  test "G20: a discovery probe is answered", %{port: port} do
    response = RawHTTP.modern(port, "server/discover", "", id: ~S("server-discover-probe-1"))
    assert %{"id" => "server-discover-probe-1", "result" => result} = json(response)
    assert "2026-07-28" in result["supportedVersions"]
    assert Map.has_key?(result["capabilities"], "tools")
  end

  test "X01: a charset of UTF-8 is accepted", %{port: port} do
    headers = [content_type: ~S(Application/JSON ; charset="utf-8")]
    assert RawHTTP.modern(port, "tools/list", "", headers: headers).status == 200
  end

  test "X07: a request method without an id is refused", %{port: port} do
    Wire.listen()
    body = String.replace(RawHTTP.body("tools/call", ~S("name":"mark")), ~S("id":1,), "")
    assert RawHTTP.modern(port, "tools/call", ~S("name":"mark"), body: body).status == 400
    refute_receive {:wire, _event}, 200
  end

  test "X14: arguments left out are an empty object", %{port: port} do
    body = RawHTTP.body("tools/call", ~S("name":"any"))
    response = RawHTTP.modern(port, "tools/call", ~S("name":"any"), body: body)
    assert json(response)["result"]["structuredContent"] == %{}
  end

  test "X15: every result carries its type", %{port: port} do
    for response <- [
          RawHTTP.modern(port, "server/discover"),
          RawHTTP.modern(port, "tools/list"),
          RawHTTP.call(port, "error"),
          RawHTTP.call(port, "whoami")
        ] do
      assert json(response)["result"]["resultType"] == "complete"
    end
  end

  test "X17: Base64 is standard, and an escaped slash is a slash", %{port: port} do
    assert [%{"resource" => %{"blob" => "+/8="}}] =
             json(RawHTTP.call(port, "blob"))["result"]["content"]

    response = RawHTTP.call(port, "echo", ~S({"text":"+\/8="}))
    assert [%{"text" => "+/8="}] = json(response)["result"]["content"]
  end

  test "X20: a schema is read by its dialect", %{port: port} do
    for tool <- ["tuple_7", "tuple_2020"] do
      assert json(RawHTTP.call(port, tool, ~S({"pair":[1,"a"]})))["result"]["isError"] != true
      assert json(RawHTTP.call(port, tool, ~S({"pair":["a",1]})))["result"]["isError"] == true
    end
  end

  test "X21: nullable is an annotation, a type union is a rule", %{port: port} do
    null = ~S({"value":null})
    assert json(RawHTTP.call(port, "nullable", null))["result"]["isError"] == true

    assert json(RawHTTP.call(port, "union", null))["result"]["structuredContent"] == %{
             "value" => nil
           }

    assert json(RawHTTP.call(port, "union", ~S({"value":"a"})))["result"]["isError"] == true
  end

  test "X23: a name with a line end, too long or empty is an unknown tool", %{port: port} do
    for name <- [~S(echo\n), String.duplicate("a", 129), ""] do
      body = RawHTTP.body("tools/call", ~s("name":"#{name}"))
      header = "=?base64?#{name |> String.replace("\\n", "\n") |> Base.encode64()}?="
      headers = [mcp_name: header]
      response = RawHTTP.modern(port, "tools/call", "", body: body, headers: headers)
      assert {response.status, code(response)} == {200, -32602}, inspect(name)
    end
  end

  test "X32: no capability promises what is not delivered", %{port: port} do
    result = json(RawHTTP.modern(port, "server/discover"))["result"]
    assert Map.keys(result["capabilities"]) == ["logging", "tools"]
    assert result["capabilities"]["tools"]["listChanged"]
    assert code(RawHTTP.modern(port, "resources/subscribe")) == -32601
  end

  test "X33: equal lists are equal bytes, after a reload and on another node", %{port: port} do
    lists = for _ <- 1..20, do: RawHTTP.modern(port, "tools/list").body
    assert [list] = Enum.uniq(lists)
    assert BeamMCP.catalog_changed(@name) == :ok
    assert RawHTTP.modern(port, "tools/list").body == list

    start_supervised!({BeamMCP, Wire.options(:other_node)})
    assert RawHTTP.modern(Wire.port(:other_node), "tools/list").body == list
    assert BeamMCP.info!(:other_node).catalog_digest == BeamMCP.info!(@name).catalog_digest
  end

  test "X34: white space around a header value is no part of it", %{port: port} do
    headers = [mcp_method: " \t tools/list \t "]
    assert RawHTTP.modern(port, "tools/list", "", headers: headers).status == 200
  end

  test "X35: HEAD is 405", %{port: port} do
    socket = RawHTTP.connect(port)
    RawHTTP.write(socket, "HEAD", "/mcp", [])
    {:ok, answer} = :gen_tcp.recv(socket, 0, 2_000)
    assert answer =~ "405"
  end

  test "a second host, a missing host and an odd transfer encoding are refused", %{port: port} do
    for headers <- [
          [host: ["127.0.0.1:#{port}", "127.0.0.1:#{port}"]],
          [host: nil],
          [content_length: nil, transfer_encoding: ["chunked", "chunked"]]
        ] do
      assert RawHTTP.modern(port, "tools/list", "", headers: headers).status == 400
    end
  end

  test "a chunked body is read", %{port: port} do
    body = RawHTTP.body("tools/list")
    chunked = [Integer.to_string(byte_size(body), 16), "\r\n", body, "\r\n0\r\n\r\n"]
    headers = [content_length: nil, transfer_encoding: "chunked"]
    response = RawHTTP.modern(port, "tools/list", "", body: chunked, headers: headers)
    assert response.status == 200
  end

  defp echoes(port, text, rounds) do
    socket = RawHTTP.connect(port)

    Enum.all?(1..rounds, fn _round ->
      response = RawHTTP.call(socket, "echo", ~s({"text":"#{text}"}))

      [%{"text" => text}] ==
        Enum.map(json(response)["result"]["content"], &Map.take(&1, ["text"]))
    end)
  end

  defp json(response), do: Json.decode!(response.body)
  defp code(response), do: json(response)["error"]["code"]
end
