defmodule BeamMCP.NativeOffersTest do
  # What the native library makes of definitions of every kind, from registration to the answer.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.Catalog.{Handlers, Registry, Server}
  alias BeamMCP.{Content, Instance, Native, Result}
  alias BeamMCP.{PromptArgument, PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}
  alias BeamMCP.Fixture.Client

  setup context do
    name = {context.module, context.test}
    http = [authorize: :none, allowed_origins: [], port: 0]
    start_supervised!({BeamMCP, name: name, http: [http]})
    {:ok, name: name, instance: Instance.fetch!(name), socket: Client.connect(name)}
  end

  defp read(socket, uri) do
    headers = [{"mcp-name", uri}]
    Client.request(socket, "resources/read", ~s("uri":"#{uri}"), headers: headers)
  end

  defp get(socket, prompt, arguments) do
    params = ~s("name":"#{prompt}","arguments":#{arguments})
    Client.request(socket, "prompts/get", params, headers: [{"mcp-name", prompt}])
  end

  defp complete(socket, ref, argument) do
    argument = ~s({"name":"#{argument}","value":"a"})
    Client.request(socket, "completion/complete", ~s("ref":#{ref},"argument":#{argument}))
  end

  defp resource(name, uri, handler) do
    spec = %ResourceSpec{uri: uri, name: "R", mime_type: "text/plain"}
    :ok = BeamMCP.register_resource(name, spec, handler)
  end

  describe "contents" do
    test "are text, bytes and Base64 (X17)", %{name: name, socket: socket} do
      pieces = [
        Content.resource_text("test://one", "one"),
        Content.resource_blob("test://two", <<251, 255>>, mime_type: "image/png"),
        Content.resource_blob("test://three", {:base64, "+/8="}, meta: %{"a" => 1}),
        %{blob: {:bytes, "four"}},
        %{"text" => "five", "mime_type" => "text/html"}
      ]

      resource(name, "test://all", fn _asked -> {:ok, pieces} end)
      assert {200, body} = read(socket, "test://all")

      for piece <- [
            ~s({"uri":"test://one","mimeType":"text/plain","text":"one"}),
            ~s({"uri":"test://two","mimeType":"image/png","blob":"+/8="}),
            ~s({"uri":"test://three","mimeType":"text/plain","blob":"+/8=","_meta":{"a":1}}),
            ~s({"uri":"test://all","mimeType":"text/plain","blob":"Zm91cg=="}),
            ~s({"uri":"test://all","mimeType":"text/html","text":"five"})
          ] do
        assert body =~ piece
      end
    end

    test "that cannot be sent are the host's fault", %{name: name, socket: socket} do
      for {contents, fault} <- [
            {%{"blob" => {:base64, "no!"}}, "blob is not Base64"},
            {%{"blob" => "a=b="}, "blob is not Base64"},
            {%{"blob" => {:base64, "QQ==QQ=="}}, "blob is not Base64"},
            {%{"text" => <<255>>}, "not UTF-8"},
            {%{"text" => "a", "blob" => "QQ=="}, "needs the string"},
            {%{"text" => "a", "size" => 1}, ~s(has the key "size")},
            {%{"text" => "a", "uri" => 1}, "uri"},
            {%{}, "needs the string"}
          ] do
        resource(name, "test://bad", fn _asked -> {:ok, contents} end)

        log =
          capture_log(fn -> assert {200, ~s({"jsonrpc") <> _rest} = read(socket, "test://bad") end)

        assert log =~ fault
      end
    end

    test "are the reader's word on caching, and its refusals", %{name: name, socket: socket} do
      cached = Result.resource(Content.resource_text("test://a", "a"), cache_ttl_ms: 7)
      resource(name, "test://a", fn _asked -> cached end)
      assert {200, body} = read(socket, "test://a")
      assert body =~ ~s("ttlMs":7,"cacheScope":"private")

      resource(name, "test://a", fn _asked -> {:error, :not_found} end)
      assert {200, body} = read(socket, "test://a")
      assert body =~ ~s("code":-32602) and body =~ ~s("data":{"uri":"test://a"})

      resource(name, "test://a", fn _ ->
        {:error, Result.safe_error("Gone.", data: %{"a" => 1})}
      end)

      assert {200, body} = read(socket, "test://a")
      assert body =~ ~s("error":{"code":-32603,"message":"Gone.","data":{"a":1}})
    end

    test "of a template come with its variables", %{name: name, socket: socket} do
      spec = %ResourceTemplateSpec{uri_template: "test://users/{id}{?page}", name: "U"}

      :ok =
        BeamMCP.register_template(name, spec, fn %{uri: uri, params: params} ->
          {:ok, uri <> inspect(Enum.sort(params))}
        end)

      assert {200, body} = read(socket, "test://users/a%20b?page=2")
      assert body =~ ~S(test://users/a%20b?page=2[{\"id\", \"a b\"}, {\"page\", \"2\"}])
    end
  end

  describe "blocks" do
    test "carry bytes that are encoded here", %{name: name, socket: socket} do
      blob = Content.resource_blob("test://b", <<251, 255>>)
      blocks = [Content.image(<<251, 255>>, "image/png"), Content.embedded_resource(blob)]

      :ok =
        BeamMCP.register_tool(name, %ToolSpec{name: "t"}, fn _ -> %Result{content: blocks} end)

      assert {200, body} = Client.call(socket, "t")
      assert body =~ ~s("data":"+/8=") and body =~ ~s("blob":"+/8=")
    end

    test "have bytes nowhere else", %{name: name, socket: socket} do
      for block <- [
            %{"type" => "text", "text" => "a", "_meta" => %{"data" => {:bytes, "a"}}},
            %{"type" => "text", "text" => {:bytes, "a"}},
            %{"type" => "image", "mimeType" => "image/png", "data" => {:bytes, 1}},
            %{"type" => "image", "mimeType" => "image/png", "data" => "not Base64"}
          ] do
        result = %Result{content: [block]}
        :ok = BeamMCP.register_tool(name, %ToolSpec{name: "t"}, fn _ -> result end)

        assert capture_log(fn ->
                 assert {200, body} = Client.call(socket, "t")
                 assert body =~ "The tool failed."
               end) =~ "cannot be sent"
      end
    end

    test "fill a prompt's messages", %{name: name, socket: socket} do
      arguments = [%PromptArgument{name: "who", required: true}]
      spec = %PromptSpec{name: "greet", arguments: arguments}

      :ok =
        BeamMCP.register_prompt(name, spec, fn %{name: "greet", arguments: arguments} ->
          image = Content.image(<<251, 255>>, "image/png")
          text = inspect(Enum.sort(arguments))
          {:ok, [Content.prompt_message(:user, text), %{role: :assistant, content: image}]}
        end)

      assert {200, body} = get(socket, "greet", ~s({"who":"Ada","more":"x"}))
      assert body =~ ~S([{:who, \"Ada\"}, {\"more\", \"x\"}])
      assert body =~ ~s("role":"assistant") and body =~ ~s("data":"+/8=")
    end

    test "of a message are checked", %{name: name, socket: socket} do
      for message <- [
            %{"role" => "system", "content" => %{"type" => "text", "text" => "a"}},
            %{"role" => "user", "content" => [%{"type" => "text", "text" => "a"}]},
            %{"role" => "user", "content" => %{"type" => "none"}},
            %{"role" => "user"}
          ] do
        :ok = BeamMCP.register_prompt(name, %PromptSpec{name: "p"}, fn _ -> {:ok, [message]} end)

        assert capture_log(fn ->
                 assert {200, body} = get(socket, "p", "{}")
                 assert body =~ ~s("code":-32603,"message":"The server failed")
               end) =~ "cannot be sent"
      end
    end
  end

  test "completions are cut and counted", %{name: name, socket: socket} do
    arguments = [%PromptArgument{name: "who"}, %PromptArgument{name: "else"}]
    spec = %PromptSpec{name: "p", arguments: arguments}
    :ok = BeamMCP.register_prompt(name, spec, fn _ -> {:ok, "a"} end)
    values = for number <- 1..3_000, do: "a#{number}"
    :ok = BeamMCP.register_completion(name, {:prompt, "p", "who"}, fn _ -> {:ok, values} end)

    ref = ~s({"type":"ref/prompt","name":"p"})
    assert {200, body} = complete(socket, ref, "who")
    assert body =~ ~s("a100"],"total":3000,"hasMore":true)
    assert {200, body} = complete(socket, ref, "else")
    assert body =~ ~s("values":[])
  end

  describe "handlers" do
    test "stay until their last call has ended", %{name: name, instance: instance, socket: socket} do
      test = self()

      handler = fn _arguments ->
        send(test, {:running, self()})
        receive do: (:go_on -> {:ok, "done"})
      end

      :ok = BeamMCP.register_tool(name, %ToolSpec{name: "slow"}, handler)
      Client.send_call(socket, "slow")
      assert_receive {:running, pid}
      :ok = BeamMCP.unregister(name, :tool, "slow")
      assert [{number, "slow", _handler}] = :ets.tab2list(instance.handlers)
      assert {"slow", _handler} = Handlers.fetch!(instance, number)
      send(pid, :go_on)
      assert {200, body} = Client.response(socket)
      assert body =~ "done"
      eventually(fn -> :ets.tab2list(instance.handlers) == [] end)
    end

    test "go when nothing leads to them", %{name: name, instance: instance} do
      for number <- 1..50 do
        :ok = BeamMCP.register_tool(name, %ToolSpec{name: "t"}, fn _ -> {:ok, "#{number}"} end)
      end

      forgotten(name, instance)
      faulty = %ToolSpec{name: "u", input_schema: %{"type" => "array"}}
      assert {:error, _error} = BeamMCP.register_tool(name, faulty, fn _ -> {:ok, "a"} end)
      forgotten(name, instance)
    end

    # What the process of the catalog has seen is gone once its heap was collected.
    defp forgotten(name, instance) do
      server = GenServer.whereis(Instance.via(name, Server))

      eventually(fn ->
        :erlang.garbage_collect(server)
        :ets.info(instance.handlers, :size) == 1
      end)
    end
  end

  describe "limits of a tool" do
    test "free a place before the answer is read", %{name: name, socket: socket} do
      spec = %ToolSpec{name: "one", max_concurrency: 1}
      :ok = BeamMCP.register_tool(name, spec, fn _ -> {:ok, "done"} end)
      for _call <- 1..200, do: assert({200, _body} = Client.call(socket, "one"))
    end

    test "hold a place while a call runs, whatever its end", %{name: name, socket: socket} do
      test = self()

      run = fn _arguments ->
        send(test, {:running, self()})
        receive do: (:go_on -> {:ok, "done"})
      end

      :ok = BeamMCP.register_tool(name, %ToolSpec{name: "one", max_concurrency: 1}, run)
      other = Client.connect(name)

      capture_log(fn ->
        for ending <- [:go_on, :kill] do
          Client.send_call(socket, "one")
          assert_receive {:running, pid}
          assert {503, body} = Client.call(other, "one")
          assert body =~ ~s("code":-31503) and body =~ "The tool one"
          if ending == :kill, do: Process.exit(pid, :kill), else: send(pid, :go_on)
          assert {200, _body} = Client.response(socket)
        end
      end)
    end

    test "end a call at its own time", %{name: name, socket: socket} do
      spec = %ToolSpec{name: "late", timeout_ms: 50}
      :ok = BeamMCP.register_tool(name, spec, fn _ -> Process.sleep(:infinity) end)

      assert capture_log(fn ->
               assert {200, body} = Client.call(socket, "late")
               assert body =~ "The tool failed."
               # The fault is told after the answer.
               Process.sleep(200)
             end) =~ "timeout_ms (50)"
    end

    test "pace its calls", %{name: name, socket: socket} do
      spec = %ToolSpec{name: "paced", rate: {2, 60_000}}
      :ok = BeamMCP.register_tool(name, spec, fn _ -> {:ok, "done"} end)
      assert {200, _body} = Client.call(socket, "paced")
      assert {200, _body} = Client.call(socket, "paced")
      assert {503, body} = Client.call(socket, "paced")
      assert body =~ "retry in 30 s"
    end
  end

  test "digests are told by definition", %{name: name, instance: instance} do
    :ok = BeamMCP.register_tool(name, %ToolSpec{name: "t"}, fn _ -> {:ok, "a"} end)
    resource(name, "test://a", fn _ -> {:ok, "a"} end)
    assert {:ok, catalog} = Registry.current(instance.definitions)

    assert %{digest: digest, tools: [{"t", tool}], resources: [{"test://a", resource}]} =
             Native.catalog_digests(catalog)

    assert digest == Native.catalog_digest(instance.native)
    assert %{tools: 1, resources: 1, templates: 0, prompts: 0} = Native.info(instance.native)
    for text <- [digest, tool, resource], do: assert(text =~ ~r/\A[0-9a-f]{64}\z/)
  end

  defp eventually(holds?, tries \\ 100) do
    cond do
      holds?.() -> :ok
      tries == 0 -> flunk("it never came true")
      true -> Process.sleep(20) && eventually(holds?, tries - 1)
    end
  end
end
