Code.require_file("support/json.exs", __DIR__)

defmodule BeamMCP.HTTPPolicyTest do
  # What the host decides for a listener: who may call, from where, and when it ends.
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias BeamMCP.Request
  alias BeamMCP.Test.{Json, RawHTTP, Wire}

  @moduletag :integration
  @name __MODULE__

  describe "authorize" do
    setup do
      start([authorize: {__MODULE__, :authorize, [:extra]}], hook_timeout_ms: 300)
    end

    test "names the caller, and without a name it is anonymous", %{port: port} do
      assert identity(port, "ok") == %{"principal" => ":anonymous", "scopes" => nil}
      assert identity(port, "principal") == %{"principal" => "{:user, 7}", "scopes" => nil}

      assert identity(port, "scopes") == %{
               "principal" => "7",
               "scopes" => ["mcp:tools:call"]
             }
    end

    test "grants what it names, and no method that needs more", %{port: port} do
      response = call_as(port, "other scopes")
      assert response.status == 403
      assert response.body =~ ~s("data":{"requiredScopes":["mcp:tools:call"]})
      assert RawHTTP.header_values(response, "www-authenticate") == []
    end

    test "refuses with 403 without saying why", %{port: port} do
      response = call_as(port, "deny")
      assert response.status == 403
      refute response.body =~ "secret reason"
    end

    test "refuses with 401 and its challenge", %{port: port} do
      response = call_as(port, "challenge")
      assert response.status == 401
      assert RawHTTP.header_values(response, "www-authenticate") == [~S(Bearer realm="mcp")]
    end

    test "that raises or answers nonsense is 500, that hangs is 503", %{port: port} do
      assert call_as(port, "raise").status == 500
      assert call_as(port, "nonsense").status == 500
      assert call_as(port, "hang").status == 503
    end

    test "runs before the body is read", %{port: port} do
      socket = RawHTTP.connect(port)
      headers = [content_type: "application/json", content_length: 100, x_form: "deny"]
      RawHTTP.write(socket, "POST", "/mcp", headers)
      assert RawHTTP.read(socket, 2_000).status == 403
      assert RawHTTP.closed?(socket)
    end
  end

  describe "authorize_body" do
    setup do
      start(authorize_body: &__MODULE__.authorize_body/2)
    end

    test "sees the raw bytes before they are decoded", %{port: port} do
      assert RawHTTP.call(port, "echo", ~S({"text":"fine"})).status == 200
      assert RawHTTP.call(port, "echo", ~S({"text":"forbidden"})).status == 403
      assert RawHTTP.modern(port, "tools/list", "", body: "forbidden {").status == 403
      assert RawHTTP.call(port, "echo", ~S({"text":"raise"})).status == 500
    end
  end

  describe "X28: allowed_hosts" do
    test "not set on a loopback address: a public host is refused, naming the option" do
      {:ok, port: port} = start([])
      response = RawHTTP.modern(port, "tools/list", "", headers: [host: "mcp.example.com"])
      assert response.status == 403
      assert response.body =~ "allowed_hosts"
    end

    test "not set: the log names the host and the option, once" do
      {:ok, port: port} = start([])

      log =
        capture_log(fn ->
          for _ <- 1..3 do
            RawHTTP.modern(port, "tools/list", "", headers: [host: "mcp.example.com"])
            RawHTTP.modern(port, "tools/list", "", headers: [origin: "https://a.example"])
          end

          Process.sleep(200)
        end)

      assert [_before, _after] = String.split(log, ~s(Host is "mcp.example.com"))
      assert [_before, _after] = String.split(log, ~s(Origin is "https://a.example"))
      assert log =~ "name it in allowed_hosts" and log =~ "name it in allowed_origins"
    end

    test "set: that host is served" do
      {:ok, port: port} = start(allowed_hosts: ["mcp.example.com"])
      response = RawHTTP.modern(port, "tools/list", "", headers: [host: "mcp.example.com"])
      assert response.status == 200
    end
  end

  describe "pages of tools/list" do
    test "hold every tool once, in order; a cursor holds on every node that shares the secret" do
      secrets = [String.duplicate("s", 32)]
      {:ok, port: port} = start([], page_size: 5, secrets: secrets)
      other = {BeamMCP, Wire.options(:other_node, page_size: 5, secrets: secrets)}
      start_supervised!(other)

      names = pages([port, Wire.port(:other_node)], nil)
      assert names == Enum.map(Wire.tools(), & &1.name)
    end

    test "refuse a wrong cursor" do
      {:ok, port: port} = start([])

      for cursor <- [~S(""), ~S("wrong"), ~s("#{String.duplicate("A", 64)}"), "7"] do
        response = RawHTTP.modern(port, "tools/list", ~s("cursor":#{cursor}))
        assert json(response)["error"]["code"] == -32602, cursor
      end
    end
  end

  describe "drain/2" do
    test "finishes what runs and accepts nothing new" do
      {:ok, port: port} = start([])
      socket = RawHTTP.connect(port)
      RawHTTP.write_call(socket, "sleep", ~S({"ms":600}))
      Process.sleep(100)
      drain = Task.async(fn -> BeamMCP.drain(@name, 5_000) end)
      Process.sleep(200)
      assert {:error, :econnrefused} = :gen_tcp.connect({127, 0, 0, 1}, port, [])
      assert RawHTTP.read(socket).status == 200
      assert RawHTTP.closed?(socket)
      assert Task.await(drain) == {:ok, 0}
    end

    test "cuts what runs longer" do
      {:ok, port: port} = start([])
      socket = RawHTTP.connect(port)
      RawHTTP.write_call(socket, "sleep", ~S({"ms":10000}))
      Process.sleep(100)
      assert BeamMCP.drain(@name, 200) == {:ok, 1}
      assert RawHTTP.closed?(socket)
    end
  end

  def authorize(request, :extra) do
    case Request.header(request, "x-form") do
      ["ok"] -> :ok
      ["principal"] -> {:ok, {:user, 7}}
      ["scopes"] -> {:ok, 7, ["mcp:tools:call"]}
      ["other scopes"] -> {:ok, 7, ["read"]}
      ["deny"] -> {:error, "secret reason"}
      ["challenge"] -> {:error, {:unauthenticated, ~S(Bearer realm="mcp")}}
      ["raise"] -> raise "on purpose"
      ["nonsense"] -> :what
      ["hang"] -> Process.sleep(:infinity)
    end
  end

  def authorize_body(%Request{method: "POST"}, body) do
    cond do
      body =~ "forbidden" -> {:error, :forbidden}
      body =~ "raise" -> raise "on purpose"
      true -> :ok
    end
  end

  defp start(http, options \\ []) do
    start_supervised!({BeamMCP, Wire.options(@name, [http: http] ++ options)})
    {:ok, port: Wire.port(@name)}
  end

  defp call_as(port, form), do: RawHTTP.call(port, "whoami", "{}", headers: [x_form: form])

  defp identity(port, form) do
    Map.take(json(call_as(port, form))["result"]["structuredContent"], ["principal", "scopes"])
  end

  # Each page comes from the next node in turn.
  defp pages([port | others], cursor) do
    params = if cursor, do: ~s("cursor":"#{cursor}"), else: ""
    result = json(RawHTTP.modern(port, "tools/list", params))["result"]
    names = Enum.map(result["tools"], & &1["name"])

    case result["nextCursor"] do
      nil -> names
      next -> names ++ pages(others ++ [port], next)
    end
  end

  defp json(response), do: Json.decode!(response.body)
end
