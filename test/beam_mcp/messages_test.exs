Code.require_file("../integration/support/json.exs", __DIR__)

defmodule BeamMCP.MessagesTest do
  # What a call tells its client before its answer, over both transports and in every revision.
  use ExUnit.Case, async: true

  alias BeamMCP.{Context, Test, ToolSpec}
  alias BeamMCP.Test.{Json, RawHTTP}

  @levels ~w(debug info notice warning error critical alert emergency)a
  @modern "2026-07-28"
  @revisions [@modern, "2025-11-25", "2025-06-18"]
  @log_level "io.modelcontextprotocol/logLevel"

  defmodule Host do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @names ~w(tell levels backwards elsewhere late flood hammer slow)a
    @levels ~w(debug info notice warning error critical alert emergency)a

    @impl true
    def capabilities,
      do: %{tools: Enum.map(@names, &%ToolSpec{name: &1}), resources: [], prompts: []}

    def call(:tell, _arguments, context) do
      :ok = Context.progress(context, 1)
      :ok = Context.progress(context, 1.5, 3, "half way")
      :ok = Context.log(context, :info, %{row: 2}, logger: "import")
      :ok = Context.notify(context, "notifications/acme/row", %{row: 3})
      :ok = Context.notify(context, "notifications/acme/done")
      {:ok, "told"}
    end

    def call(:levels, _arguments, context) do
      for level <- @levels, do: :ok = Context.log(context, level, "message")
      {:ok, "logged"}
    end

    def call(:backwards, _arguments, context) do
      {:ok, for(progress <- [2, 2, 1.5, 3], do: inspect(Context.progress(context, progress)))}
    end

    def call(:elsewhere, _arguments, context) do
      tell = fn -> Context.progress(context, 7) end
      {:ok, inspect(Task.await(Task.async(tell)))}
    end

    def call(:late, _arguments, context) do
      send(listener(), {:context, context})
      {:ok, "answered"}
    end

    def call(:flood, _arguments, context) do
      for number <- 1..500, do: :ok = Context.log(context, :error, number)
      {:ok, "logged"}
    end

    def call(:hammer, _arguments, context) do
      send(listener(), {:full_after, hammer(context, 0)})
      {:ok, "full"}
    end

    def call(:slow, _arguments, _context) do
      Process.sleep(300)
      {:ok, "slow"}
    end

    defp hammer(context, count) when count < 5_000 do
      case Context.notify(context, "notifications/acme/bytes", %{a: String.duplicate("x", 60_000)}) do
        :ok -> hammer(context, count + 1)
        {:error, :busy} -> count
      end
    end

    defp listener, do: :persistent_term.get(__MODULE__)
  end

  setup do
    name = {__MODULE__, make_ref()}
    http = [port: 0, authorize: :none, allowed_origins: [], keep_alive_ms: 50]
    options = [name: name, catalog: Host, dispatch: &Host.call/3, stream_after_ms: 100]
    start_supervised!({BeamMCP, options ++ [http: [http]]})
    [listener] = BeamMCP.info!(name).listeners
    {:ok, name: name, port: BeamMCP.Listener.port(listener)}
  end

  for transport <- [:http, :stdio], revision <- @revisions do
    describe "#{revision} over #{transport}" do
      @describetag transport: transport, revision: revision

      test "progress, log messages and others come before the answer, in order", context do
        {messages, result} = call(connect(context), "tell", progress: 7, log_level: :info)
        assert %{"content" => [%{"text" => "told"}]} = result

        assert messages == [
                 {"notifications/progress", %{"progressToken" => 7, "progress" => 1}},
                 {"notifications/progress",
                  %{
                    "progressToken" => 7,
                    "progress" => 1.5,
                    "total" => 3,
                    "message" => "half way"
                  }},
                 {"notifications/message",
                  %{"level" => "info", "logger" => "import", "data" => %{"row" => 2}}},
                 {"notifications/acme/row", %{"row" => 3}},
                 {"notifications/acme/done", nil}
               ]
      end

      test "there is no progress without a token", context do
        {messages, _result} = call(connect(context), "tell", [])
        refute "notifications/progress" in methods(messages)
      end

      test "a client reads log messages from its level on", context do
        for {level, index} <- Enum.with_index(@levels) do
          client = connect(context)
          set_log_level(client, level)
          {messages, _result} = call(client, "levels", log_level: level)

          assert for({_method, params} <- messages, do: params["level"]) ==
                   Enum.map(Enum.drop(@levels, index), &Atom.to_string/1)
        end
      end

      test "a client that names no level reads what its era says", context do
        {messages, _result} = call(connect(context), "levels", [])
        expected = if context.revision == @modern, do: 0, else: 7
        assert length(messages) == expected
      end

      test "progress that does not grow is refused, read or not", context do
        for options <- [[progress: 1], []] do
          {messages, result} = call(connect(context), "backwards", options)
          error = "{:error, :not_increasing}"
          assert Json.decode!(hd(result["content"])["text"]) == [":ok", error, error, ":ok"]
          expected = if options == [], do: [], else: [2, 3]
          assert for({_method, params} <- messages, do: params["progress"]) == expected
        end
      end

      test "any process of the node may tell", context do
        {messages, result} = call(connect(context), "elsewhere", progress: 1)
        assert [{"notifications/progress", %{"progress" => 7}}] = messages
        assert %{"content" => [%{"text" => ":ok"}]} = result
      end

      test "one call writes at most 200 log messages a second; more are counted", context do
        {messages, _result} = call(connect(context), "flood", log_level: :error)
        # A client that reads slowly loses some; a second may end meanwhile.
        assert length(messages) in 1..400
        assert BeamMCP.info!(context.name).messages_dropped == 500 - length(messages)
      end
    end
  end

  describe "logging/setLevel" do
    test "refuses a level that there is not", context do
      for revision <- ["2025-11-25", "2025-06-18"] do
        client = Test.connect!(context.name, revision: revision)
        assert {:error, %{code: -32_602, message: message}} = Test.set_log_level(client, "loud")
        assert message =~ "debug, info, notice"
      end
    end

    test "is for the session that asked, and there is none in 2026-07-28", context do
      one = connect(Map.merge(context, %{transport: :http, revision: "2025-11-25"}))
      other = connect(Map.merge(context, %{transport: :http, revision: "2025-11-25"}))
      set_log_level(one, :emergency)
      assert {[_emergency], _result} = call(one, "levels", [])
      assert {[_ | _] = seven, _result} = call(other, "levels", [])
      assert length(seven) == 7
      modern = Test.connect!(context.name)

      assert {:error, %{code: -32_601}} =
               Test.request(modern, "logging/setLevel", %{level: :info})
    end
  end

  test "log_level is what a 2025 client reads that named none", %{name: name} do
    options = [catalog: Host, dispatch: &Host.call/3, log_level: :critical]
    %{instance: instance} = Test.start!(options)
    client = Test.connect!(instance, revision: "2025-11-25", log_level: nil)
    assert {:ok, _result} = Test.call_tool(client, "levels")
    assert ["critical", "alert", "emergency"] = for(log <- Test.logs(client), do: log["level"])
    assert name != instance
  end

  test "a level that there is not refuses the request of a 2026-07-28 client", context do
    client = Test.connect!(context.name)
    meta = %{@log_level => "loud"}
    assert {:error, %{code: -32_602}} = Test.call_tool(client, "levels", %{}, meta: meta)
  end

  describe "over HTTP" do
    @describetag transport: :http, revision: @modern

    test "a call that outlives stream_after_ms is answered with a stream, kept alive", context do
      response = post(connect(context), "slow", [])
      assert RawHTTP.header_values(response, "content-type") == ["text/event-stream"]
      assert RawHTTP.header_values(response, "x-accel-buffering") == ["no"]
      assert response.body =~ ~r/^:/m
      assert [answer] = RawHTTP.events(response)
      assert %{"result" => %{"content" => [%{"text" => "slow"}]}} = Json.decode!(answer)
    end

    test "a client that reads no streams gets the answer alone", context do
      for tool <- ["tell", "slow"] do
        response =
          post(connect(context), tool, [progress: 1, log_level: :debug],
            accept: "application/json"
          )

        assert RawHTTP.header_values(response, "content-type") == ["application/json"]
        assert %{"result" => %{}} = Json.decode!(response.body)
      end
    end

    test "a client that does not read keeps nobody waiting", context do
      :persistent_term.put(Host, self())
      client = connect(context)
      write(client, "hammer", [])
      assert_receive {:full_after, count}, 20_000
      assert %{streams: 1} = BeamMCP.info!(context.name)
      # What fits into the queue and into the buffers of a connection.
      assert count in 128..4_000
      assert {[], %{"content" => _}} = call(connect(context), "backwards", [])
      RawHTTP.read(client.socket)

      assert eventually(fn ->
               match?(%{calls: 0, streams: 0, buffered_bytes: 0}, BeamMCP.info!(context.name))
             end)
    end
  end

  test "what a message costs is taken from its sender's turn" do
    text = String.duplicate("x", 60_000)

    told = fn _arguments, context ->
      {:reductions, before} = Process.info(self(), :reductions)
      for _ <- 1..20, do: Context.notify(context, "notifications/acme/row", %{text: text})
      {:reductions, later} = Process.info(self(), :reductions)
      {:ok, Integer.to_string(later - before)}
    end

    client = Test.start!(registrations: [{:tool, %ToolSpec{name: "tell"}, told}])
    {:ok, %{"content" => [%{"text" => spent}]}} = Test.call_tool(client, :tell)
    # A turn has 4,000, and lasts about as long as the library works on two dozen such messages.
    assert String.to_integer(spent) > 10_000
  end

  describe "a context that has outlived" do
    setup context do
      :persistent_term.put(Host, self())
      client = Test.connect!(context.name)
      assert {:ok, _result} = Test.call_tool(client, "late")
      assert_receive {:context, outlived}, 2_000
      {:ok, client: client, outlived: outlived}
    end

    test "its call tells nobody anything", %{client: client, outlived: outlived} do
      assert :ok = Context.progress(outlived, 1)
      assert :ok = Context.log(outlived, :error, "late")
      assert :ok = Context.notify(outlived, "notifications/acme/late")
      assert {:ok, _result} = Test.call_tool(client, "elsewhere")
      assert [{"notifications/progress", %{"progress" => 7}}] = Test.notifications(client)
    end

    test "its instance tells nobody anything", %{name: name, outlived: outlived} do
      :ok = BeamMCP.stop(name)
      assert :ok = Context.progress(outlived, 1)
      assert :ok = Context.log(outlived, :error, "late")
      assert Context.cancelled?(outlived)
    end
  end

  describe "the host's mistakes raise where they are made:" do
    @context %Context{instance: :nowhere, call: 1}

    test "progress" do
      assert_raise ArgumentError, ~r/progress must be a number/, fn ->
        Context.progress(@context, "1")
      end

      assert_raise ArgumentError, ~r/progress must be a number that a client can read/, fn ->
        Context.progress(@context, 9_007_199_254_740_992)
      end

      assert_raise ArgumentError, ~r/total must be a number or nil/, fn ->
        Context.progress(@context, 1, :all)
      end

      assert_raise ArgumentError, ~r/message must be a UTF-8 string/, fn ->
        Context.progress(@context, 1, 2, <<255>>)
      end
    end

    test "log messages" do
      assert_raise ArgumentError, ~r/level must be one of \[:debug/, fn ->
        Context.log(@context, :warn, "x")
      end

      assert_raise ArgumentError, ~r/logger must be/, fn ->
        Context.log(@context, :info, "x", logger: :import)
      end

      assert_raise ArgumentError, ~r/this cannot be sent to a client/, fn ->
        Context.log(@context, :info, self())
      end

      assert_raise ArgumentError, ~r/at most 65536 bytes, this has 70002/, fn ->
        Context.log(@context, :info, String.duplicate("x", 70_000))
      end
    end

    test "notifications" do
      for method <- ~w(notifications/progress notifications/tools/list_changed tools/call acme) do
        assert_raise ArgumentError, ~r/sends this method by itself|must/, fn ->
          Context.notify(@context, method)
        end
      end

      assert_raise ArgumentError, ~r/params must be a map or nil/, fn ->
        Context.notify(@context, "notifications/acme", [1])
      end
    end
  end

  # A client of the test's transport and revision, which asks for nothing that the test does not name.
  defp connect(%{transport: :stdio} = context) do
    Test.connect!(context.name, revision: context.revision, progress: false, log_level: nil)
  end

  defp connect(%{transport: :http, revision: revision, port: port}) do
    client = %{socket: RawHTTP.connect(port), revision: revision, headers: []}
    if revision == @modern, do: client, else: %{client | headers: session(client)}
  end

  defp session(%{revision: revision} = client) do
    info = ~s("capabilities":{},"clientInfo":{"name":"test","version":"1"})
    params = ~s({"protocolVersion":"#{revision}",#{info}})
    body = ~s({"jsonrpc":"2.0","id":0,"method":"initialize","params":#{params}})
    [id] = client.socket |> RawHTTP.post(body) |> RawHTTP.header_values("mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: revision]
  end

  # Only sessions and pipes have a level of their own.
  defp set_log_level(%{revision: @modern}, _level), do: :ok

  defp set_log_level(%{socket: socket, headers: headers}, level) do
    params = ~s({"level":"#{level}"})
    body = ~s({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":#{params}})
    response = RawHTTP.post(socket, body, headers: headers)
    assert %{"result" => result} = Json.decode!(response.body)
    assert result == %{}
  end

  defp set_log_level(client, level), do: assert({:ok, %{}} = Test.set_log_level(client, level))

  # The messages before the answer as `{method, params}`, and the result.
  defp call(%{socket: _socket} = client, tool, options) do
    response = post(client, tool, options)

    {messages, [answer]} =
      case RawHTTP.header_values(response, "content-type") do
        ["text/event-stream"] -> response |> RawHTTP.events() |> Enum.split(-1)
        ["application/json"] -> {[], [response.body]}
      end

    messages =
      for message <- messages,
          do: message |> Json.decode!() |> then(&{&1["method"], &1["params"]})

    {messages, Json.decode!(answer)["result"]}
  end

  defp call(client, tool, options) do
    assert {:ok, result} = Test.call_tool(client, tool, %{}, meta: meta(client, options))
    {Test.notifications(client), result}
  end

  defp post(client, tool, options, headers \\ []) do
    write(client, tool, options, headers)
    RawHTTP.read(client.socket)
  end

  defp write(client, tool, options, headers \\ []) do
    {:ok, meta} = BeamMCP.Native.encode(Map.merge(identity(client), meta(client, options)))
    params = ~s({"name":"#{tool}","arguments":{},"_meta":#{meta}})
    body = ~s({"jsonrpc":"2.0","id":2,"method":"tools/call","params":#{params}})

    standard = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: byte_size(body),
      mcp_protocol_version: client.revision,
      mcp_method: "tools/call",
      mcp_name: tool
    ]

    headers = standard |> Keyword.merge(client.headers) |> Keyword.merge(headers)
    RawHTTP.write(client.socket, "POST", "/mcp", headers, body)
  end

  defp identity(%{revision: @modern}) do
    %{
      "io.modelcontextprotocol/protocolVersion" => @modern,
      "io.modelcontextprotocol/clientCapabilities" => %{}
    }
  end

  defp identity(_legacy), do: %{}

  defp meta(client, options) do
    Enum.reduce(options, %{}, fn
      {:progress, token}, meta ->
        Map.put(meta, "progressToken", token)

      {:log_level, level}, meta when client.revision == @modern ->
        Map.put(meta, @log_level, level)

      {:log_level, _of_the_session}, meta ->
        meta
    end)
  end

  defp methods(messages), do: for({method, _params} <- messages, do: method)

  defp eventually(holds?, left \\ 200) do
    holds?.() or (left > 0 and Process.sleep(10) == :ok and eventually(holds?, left - 1))
  end
end
