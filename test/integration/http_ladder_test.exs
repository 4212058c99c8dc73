Code.require_file("support/json.exs", __DIR__)

defmodule BeamMCP.HTTPLadderTest do
  # The order of checks for a POST of the modern era, one request for each step; a request that fails two steps shows
  # which comes first.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{Json, RawHTTP, Wire}

  @moduletag :integration
  @name __MODULE__

  setup_all do
    start_supervised!({BeamMCP, Wire.options(@name, http: [max_body_bytes: 4_096])})
    {:ok, port: Wire.port(@name)}
  end

  describe "before the body is read" do
    test "1: a foreign host or origin is 403", %{port: port} do
      for headers <- [[host: "evil.example"], [origin: "http://evil.example"], [origin: "null"]] do
        response = RawHTTP.modern(port, "tools/list", "", headers: headers)
        assert response.status == 403
        assert code(response) == -32600
      end
    end

    test "1 before 2: a foreign host is 403 whatever the method", %{port: port} do
      assert RawHTTP.request(port, "GET", "/mcp", host: "evil.example").status == 403
    end

    test "2: a method that the endpoint lacks is 405 and names those it has", %{port: port} do
      for method <- ~w(PUT PATCH) do
        response = RawHTTP.request(port, method, "/mcp")
        assert response.status == 405
        assert [allowed] = RawHTTP.header_values(response, "allow")
        assert allowed =~ "POST"
      end
    end

    test "4: a wrong content type is 415, a wrong accept 406, a long body 413", %{port: port} do
      status = fn headers -> RawHTTP.modern(port, "tools/list", "", headers: headers).status end
      assert status.(content_type: "text/plain; a=application/json") == 415
      assert status.(content_type: "application/json-seq") == 415
      assert status.(accept: "text/html") == 406
      long = String.duplicate(" ", 4_097)
      assert RawHTTP.modern(port, "tools/list", "", body: long).status == 413
    end

    test "closes the connection and says so", %{port: port} do
      socket = RawHTTP.connect(port)
      response = RawHTTP.modern(socket, "tools/list", "", headers: [content_type: "text/plain"])
      assert RawHTTP.header_values(response, "connection") == ["close"]
      assert RawHTTP.closed?(socket)
    end
  end

  describe "after the body is read" do
    test "5: what is not JSON is 400 and -32700, without an id", %{port: port} do
      for body <- [~S({"jsonrpc":"2.0","id":1,), ~s({"id":"\xFF"}), "{} {}"] do
        response = RawHTTP.modern(port, "tools/list", "", body: body)
        assert response.status == 400
        assert %{"error" => %{"code" => code}} = answer = json(response)
        assert code == -32700
        refute Map.has_key?(answer, "id")
      end
    end

    test "6: what is no request object is 400 and -32600", %{port: port} do
      for body <- [
            "[]",
            ~S([{"jsonrpc":"2.0","id":1,"method":"ping"}]),
            ~S({"jsonrpc":"1.0","id":1,"method":"ping"}),
            ~S({"jsonrpc":"2.0","id":1,"method":7}),
            ~S({"jsonrpc":"2.0","id":1.5,"method":"ping"}),
            ~S({"jsonrpc":"2.0","id":1,"result":{}})
          ] do
        response = RawHTTP.modern(port, "tools/list", "", body: body)
        assert {response.status, code(response)} == {400, -32600}, body
      end
    end

    test "8: `_meta` without a required key is 400 and -32602", %{port: port} do
      meta = ~S("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})
      body = ~s({"jsonrpc":"2.0","id":"a","method":"tools/list","params":{#{meta}}})
      response = RawHTTP.modern(port, "tools/list", "", body: body)
      assert {response.status, code(response)} == {400, -32602}
      assert json(response)["id"] == "a"
    end

    test "9: a header version that differs from the body is 400 and -32020", %{port: port} do
      body = String.replace(RawHTTP.body("tools/list"), "2026-07-28", "v999.0.0")
      response = RawHTTP.modern(port, "tools/list", "", body: body)
      assert {response.status, code(response)} == {400, -32020}
    end

    test "10: a version that is not served is 400 and -32022 with those that are", %{port: port} do
      body = String.replace(RawHTTP.body("tools/list"), "2026-07-28", "v999.0.0")
      headers = [mcp_protocol_version: "v999.0.0"]
      response = RawHTTP.modern(port, "tools/list", "", body: body, headers: headers)
      assert {response.status, code(response)} == {400, -32022}

      assert %{"requested" => "v999.0.0", "supported" => supported} =
               json(response)["error"]["data"]

      assert "2026-07-28" in supported
    end

    test "11: a header that is missing or differs is 400 and -32020", %{port: port} do
      for headers <- [
            [mcp_method: nil],
            [mcp_method: "Tools/call"],
            [mcp_method: "tools/list"],
            [mcp_name: nil],
            [mcp_name: "any"],
            [mcp_method: ["tools/call", "tools/call"]]
          ] do
        response = RawHTTP.call(port, "echo", ~S({"text":"a"}), headers: headers)
        assert {response.status, code(response)} == {400, -32020}, inspect(headers)
      end
    end

    test "11 before 12: the header is compared before the method is looked up", %{port: port} do
      response = RawHTTP.modern(port, "no/such", "", headers: [mcp_method: "tools/list"])
      assert code(response) == -32020
    end

    test "12: a method that is not served is 404 and -32601", %{port: port} do
      for method <- ~w(initialize ping logging/setLevel resources/subscribe unknown/method) do
        response = RawHTTP.modern(port, method)
        assert {response.status, code(response)} == {404, -32601}, method
      end
    end

    test "13: wrong parameters are 200 and -32602", %{port: port} do
      for arguments <- ["null", "[]", "7"] do
        response = RawHTTP.call(port, "any", arguments)
        assert {response.status, code(response)} == {200, -32602}, arguments
      end
    end

    test "14: an unknown tool is 200 and -32602, a wrong param header 400 and -32020", %{
      port: port
    } do
      response = RawHTTP.call(port, "no_such_tool")
      assert {response.status, code(response)} == {200, -32602}
      arguments = ~S({"region":"eu"})

      for headers <- [[], [mcp_param_region: "us"], [mcp_param_region: "=?base64?!!!!?="]] do
        response = RawHTTP.call(port, "region", arguments, headers: headers)
        assert {response.status, code(response)} == {400, -32020}, inspect(headers)
      end

      for value <- ["eu", "=?base64?ZXU=?="] do
        response = RawHTTP.call(port, "region", arguments, headers: [mcp_param_region: value])
        assert %{"content" => [%{"text" => "eu"}]} = json(response)["result"]
      end
    end

    test "17: arguments that break the schema are a result with isError", %{port: port} do
      response = RawHTTP.call(port, "echo", ~S({"text":7}))
      assert response.status == 200
      assert %{"isError" => true, "content" => [%{"text" => text}]} = json(response)["result"]
      assert text =~ "/text"
    end

    test "18: the tool's own answer", %{port: port} do
      response = RawHTTP.call(port, "echo", ~S({"text":"hé"}))
      assert %{"content" => [%{"text" => "hé"}]} = json(response)["result"]
      assert %{"isError" => true} = json(RawHTTP.call(port, "error"))["result"]
      assert %{"isError" => true} = json(RawHTTP.call(port, "raise"))["result"]
    end

    test "keeps the connection", %{port: port} do
      socket = RawHTTP.connect(port)
      assert RawHTTP.modern(socket, "tools/list", "", body: "{").status == 400
      assert RawHTTP.modern(socket, "no/such").status == 404
      assert RawHTTP.modern(socket, "tools/list").status == 200
    end
  end

  defp json(response), do: Json.decode!(response.body)
  defp code(response), do: json(response)["error"]["code"]
end
