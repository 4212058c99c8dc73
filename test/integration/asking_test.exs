for file <- ~w(json message stdio_client), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.AskingWireTest do
  # Calls that ask their client, on the wire: rounds of 2026-07-28, and requests of the server's to older clients.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message

  alias BeamMCP.{Context, ToolSpec}
  alias BeamMCP.Test.{Json, RawHTTP, StdioClient, Wire}

  @moduletag :integration
  @name __MODULE__
  @server Path.expand("support/stdio_server.exs", __DIR__)

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities, do: %{tools: [%ToolSpec{name: :roots}], resources: [], prompts: []}

    def call(:roots, _arguments, context), do: {:ok, inspect(Context.roots(context))}
  end

  setup_all do
    host = [catalog: Catalog, dispatch: &Catalog.call/3]
    start_supervised!({BeamMCP, Keyword.merge(Wire.options(@name), host)})
    {:ok, port: Wire.port(@name)}
  end

  for revision <- ~w(2025-11-25 2025-06-18) do
    test "a #{revision} client is asked on the call's stream and answers on another", %{
      port: port
    } do
      session = session(port, unquote(revision), ~S({"roots":{}}))
      stream = calling(port, session)
      assert {%{"method" => "roots/list", "id" => id}, rest} = event(stream, "")

      stranger = session(port, unquote(revision), ~S({"roots":{}}))
      assert RawHTTP.post(port, response(id), headers: stranger).status == 202
      assert {:error, :timeout} = :gen_tcp.recv(stream, 0, 100)

      assert %{status: 202, body: ""} = RawHTTP.post(port, response(id), headers: session)
      assert {%{"id" => 7, "result" => result}, _rest} = event(stream, rest)
      assert %{"content" => [%{"text" => text}]} = result
      assert text == ~S({:ok, [%{"uri" => "file:///a"}]})
      assert RawHTTP.post(port, response(id), headers: session).status == 202
      assert %{calls: 0} = BeamMCP.info!(@name)
    end
  end

  test "an older client without the capability is told in words", %{port: port} do
    session = session(port, "2025-11-25", "{}")
    result = answer(port, session)["result"]
    assert %{"isError" => true, "content" => [%{"text" => text}]} = result
    assert text =~ "roots"
  end

  test "a 2026 client answers in a second request, on any connection", %{port: port} do
    first = round(port, "")
    assert first["result"]["resultType"] == "input_required"
    assert %{"input-1" => %{"method" => "roots/list"}} = first["result"]["inputRequests"]
    state = first["result"]["requestState"]
    responses = ~S("inputResponses":{"input-1":{"roots":[{"uri":"file:///a"}]}})
    second = round(port, ~s(,#{responses},"requestState":"#{state}"))
    assert [%{"text" => ~S({:ok, [%{"uri" => "file:///a"}]})}] = second["result"]["content"]

    tampered = round(port, ~s(,#{responses},"requestState":"#{state}x"))
    assert tampered["error"]["code"] == -32_602
  end

  test "a 2026 client that lacks the capability gets 400 and what it lacks", %{port: port} do
    assert %{status: 400, body: body} = RawHTTP.call(port, "roots")
    error = Json.decode!(body)["error"]
    assert error["code"] == -32_021
    assert error["data"] == %{"requiredCapabilities" => %{"roots" => %{}}}
  end

  test "lines of a pipe carry the questions and the answers of older clients" do
    client = StdioClient.start(command())
    hello = String.replace(initialize(1), ~s("capabilities":{}), ~s("capabilities":{"roots":{}}))
    StdioClient.send_line(client, hello)
    assert %{"id" => 1} = StdioClient.receive_message(client)
    StdioClient.send_line(client, legacy(7, "tools/call", ~S({"name":"roots","arguments":{}})))
    assert %{"method" => "roots/list", "id" => id} = StdioClient.receive_message(client)
    StdioClient.send_line(client, legacy(8, "ping"))
    assert %{"id" => 8} = StdioClient.receive_message(client)
    StdioClient.send_line(client, response("unknown"))
    StdioClient.send_line(client, response(id))

    assert %{"id" => 7, "result" => %{"content" => [%{"text" => text}]}} =
             StdioClient.receive_message(client)

    assert text =~ "file:///a"
    StdioClient.close_input(client)
    assert {[], 0} = StdioClient.await_exit(client)
  end

  defp round(port, more) do
    capabilities = ~S("io.modelcontextprotocol/clientCapabilities":{)
    body = RawHTTP.body("tools/call", ~s("name":"roots","arguments":{}#{more}))
    body = String.replace(body, capabilities, capabilities <> ~S("roots":{}))
    options = [body: body, headers: [mcp_name: "roots"]]

    port
    |> RawHTTP.modern("tools/call", ~S("name":"roots"), options)
    |> Map.fetch!(:body)
    |> Json.decode!()
  end

  defp session(port, revision, capabilities) do
    hello = initialize(1, revision)
    hello = String.replace(hello, ~s("capabilities":{}), ~s("capabilities":#{capabilities}))
    [id] = port |> RawHTTP.post(hello) |> RawHTTP.header_values("mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: revision]
  end

  defp answer(port, session) do
    call = legacy(7, "tools/call", ~S({"name":"roots"}))
    port |> RawHTTP.post(call, headers: session) |> Map.fetch!(:body) |> Json.decode!()
  end

  # The socket of a call, behind the head of its stream.
  defp calling(port, session) do
    socket = RawHTTP.connect(port)
    body = legacy(7, "tools/call", ~S({"name":"roots"}))

    headers = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: byte_size(body)
    ]

    :ok = RawHTTP.write(socket, "POST", "/mcp", headers ++ session, body)
    socket
  end

  # The next message of a stream, and what was read beyond it.
  defp event(socket, read) do
    case Regex.run(~r/data: (\{.*?\})\n\n/s, read, return: :index) do
      [{start, length}, {from, size}] ->
        rest = binary_part(read, start + length, byte_size(read) - start - length)
        {read |> binary_part(from, size) |> Json.decode!(), rest}

      nil ->
        {:ok, more} = :gen_tcp.recv(socket, 0, 5_000)
        event(socket, read <> more)
    end
  end

  defp response(id),
    do: ~s({"jsonrpc":"2.0","id":"#{id}","result":{"roots":[{"uri":"file:///a"}]}})

  defp command do
    launch =
      ~S(exec 3<&0 4>&1 0</dev/null 1>&2; BEAM_MCP_STDIO=3,4; export BEAM_MCP_STDIO; exec "$@")

    elixir = System.find_executable("elixir")

    [
      "/bin/sh",
      "-c",
      launch,
      "sh",
      elixir,
      "-pa",
      Application.app_dir(:beam_mcp, "ebin"),
      @server
    ]
  end
end
