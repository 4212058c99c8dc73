defmodule BeamMCP.HostTest do
  # What a host gives to an instance, seen from its clients.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  import ExUnit.CaptureLog

  alias BeamMCP.Fixture.{Catalog, Client, Tools}
  alias BeamMCP.{Listener, Request, ToolSpec}

  @http [authorize: :none, allowed_origins: [], port: 0]

  defp start(context, options) do
    defaults = [name: context.test, catalog: Catalog, dispatch: &Tools.call/3, http: @http]
    start_supervised!({BeamMCP, Keyword.merge(defaults, options)})
    context.test
  end

  defp echo(name, value \\ "1"),
    do: Client.call(Client.connect(name), "echo", ~s({"value":#{value}}))

  describe "dispatch" do
    test "takes two arguments", context do
      name = start(context, dispatch: fn "echo", %{value: value} -> {:ok, [value]} end)
      assert {200, body} = echo(name)
      assert body =~ ~s("structuredContent":[1])
    end

    test "takes a module, a function and further arguments", context do
      name = start(context, dispatch: {__MODULE__, :extra, [:further]})
      assert {200, body} = echo(name)
      assert body =~ ~s("text":"echo further #{context.module}")
    end

    test "gets declared arguments under atoms, others under strings, values exact", context do
      test = self()

      dispatch = fn "echo", arguments, _context ->
        send(test, arguments)
        {:ok, ""}
      end

      name = start(context, dispatch: dispatch)

      json =
        ~s({"value":{"value":[null,true,1.5,123456789012345678901234567890]},"never_an_atom":"é"})

      assert {200, _body} = Client.call(Client.connect(name), "echo", json)

      assert_received %{
        :value => %{"value" => [nil, true, 1.5, 123_456_789_012_345_678_901_234_567_890]},
        "never_an_atom" => "é"
      }
    end
  end

  describe "the context" do
    test "tells who calls and what was sent along", context do
      test = self()

      dispatch = fn _tool, _arguments, context ->
        send(test, context)
        {:ok, ""}
      end

      http =
        Keyword.put(@http, :authorize, fn _request -> {:ok, {:user, 7}, ["mcp:tools:call"]} end)

      name = start(context, dispatch: dispatch, context_headers: ["X-Tenant"], http: http)
      headers = [{"x-tenant", "a"}, {"X-Tenant", "b"}, {"traceparent", "00-1-2-01"}]
      before = System.system_time(:millisecond)

      assert {200, _body} =
               Client.call(Client.connect(name), "echo", ~s({"value":1}),
                 headers: headers,
                 id: ~s("id-1")
               )

      assert_received %BeamMCP.Context{} = context
      assert %{instance: ^name, request_id: "id-1", method: "tools/call"} = context
      assert %{revision: "2026-07-28", transport: :http, client_capabilities: %{}} = context
      assert %{principal: {:user, 7}, scopes: ["mcp:tools:call"]} = context
      assert %{claims: nil, sender: nil, tenant: nil} = context
      assert context.headers == [{"x-tenant", "a"}, {"x-tenant", "b"}]
      assert context.trace == %{traceparent: "00-1-2-01"}
      assert (context.deadline_ms - before) in 50_000..70_000
      assert context.meta == %{}
      assert is_integer(context.call)
    end

    test "knows that its call has ended", context do
      test = self()

      dispatch = fn _tool, _arguments, context ->
        send(test, {context, BeamMCP.Context.cancelled?(context)})
        {:ok, ""}
      end

      name = start(context, dispatch: dispatch)
      echo(name)
      assert_received {context, false}
      assert BeamMCP.Context.cancelled?(context)
      stop_supervised!(name)
      assert BeamMCP.Context.cancelled?(context)
    end
  end

  describe "authorize" do
    defp authorized(context, answer) do
      name = start(context, http: Keyword.put(@http, :authorize, fn %Request{} -> answer end))
      {status, _body} = echo(name)
      status
    end

    test("serves", context, do: assert(authorized(context, :ok) == 200))

    test("challenges", context,
      do: assert(authorized(context, {:error, {:unauthenticated, "Bearer"}}) == 401)
    )

    test "refuses, and the reason stays in the log", context do
      log = capture_log(fn -> assert authorized(context, {:error, :unknown_key}) == 403 end)
      assert log =~ "authorize refused a request: :unknown_key"
    end

    test "fails when it answers something else", context do
      assert capture_log(fn -> assert authorized(context, :yes) == 500 end) =~
               "authorize answered"
    end

    test "sees the head of the request", context do
      test = self()

      hook = fn request ->
        send(test, request)
        :ok
      end

      name = start(context, http: Keyword.put(@http, :authorize, hook))

      Client.call(Client.connect(name), "echo", ~s({"value":1}),
        headers: [{"X-Key", "a"}, {"x-key", "b"}]
      )

      assert_received %Request{method: "POST", path: "/mcp", query: nil, tls: nil} = request
      assert Request.header(request, "x-key") == ["a", "b"]
      assert {{127, 0, 0, 1}, port} = request.peer
      assert is_integer(port)
    end

    test "is each listener's own", context do
      deny =
        Keyword.put(@http, :authorize, fn _request -> {:error, {:unauthenticated, "Bearer"}} end)

      allow = Keyword.put(@http, :authorize, fn _request -> {:ok, :alice} end)
      name = start(context, http: [deny, allow])

      statuses =
        for listener <- BeamMCP.info!(name).listeners do
          {status, _body} =
            Client.call(Client.connect_to(listener.address), "echo", ~s({"value":1}))

          status
        end

      assert Enum.sort(statuses) == [200, 401]
    end

    test "authorize_body sees the bytes as they came", context do
      test = self()

      hook = fn %Request{}, body ->
        send(test, {:body, body})
        if body =~ "forged", do: {:error, :bad_signature}, else: :ok
      end

      name = start(context, http: Keyword.put(@http, :authorize_body, hook))
      assert {200, _body} = echo(name)
      assert_received {:body, ~s({"jsonrpc":"2.0","id":1,"method":"tools/call") <> _rest}

      assert capture_log(fn -> assert {403, _body} = echo(name, ~s("forged")) end) =~
               "bad_signature"
    end
  end

  describe "a catalog that depends on the caller" do
    defmodule CallerCatalog do
      @behaviour BeamMCP.Catalog

      @impl true
      def capabilities, do: %{tools: [%ToolSpec{name: :public}], resources: [], prompts: []}

      @impl true
      def capabilities(%{principal: principal}) do
        tools = [
          %ToolSpec{
            name: "for_#{principal}",
            input_schema: %{"type" => "object", "properties" => %{"a" => %{}}}
          },
          %ToolSpec{name: "not a name"},
          %ToolSpec{name: "bad_schema", input_schema: %{"type" => 7}}
        ]

        %{tools: tools, resources: [], prompts: []}
      end
    end

    test "is asked for each request; faulty definitions are left out and logged", context do
      test = self()

      dispatch = fn tool, arguments, _context ->
        send(test, {tool, arguments})
        {:ok, ""}
      end

      authorize = fn request -> {:ok, hd(Request.header(request, "x-user"))} end
      http = Keyword.put(@http, :authorize, authorize)

      socket =
        context
        |> start(catalog: CallerCatalog, dispatch: dispatch, http: http)
        |> Client.connect()

      alice = [headers: [{"x-user", "alice"}]]
      bob = [headers: [{"x-user", "bob"}]]

      log =
        capture_log(fn ->
          {200, listed} = Client.request(socket, "tools/list", "", alice)
          assert listed =~ "for_alice"
          refute listed =~ "public"
          refute listed =~ "bad_schema"
          assert listed =~ ~s("cacheScope":"private")
        end)

      assert log =~ ~s(left out: tool "not a name", name: may hold only)
      assert log =~ ~s(left out: tool "bad_schema")
      again = fn -> Client.request(socket, "tools/list", "", alice) end
      refute capture_log(again) =~ "left out"

      assert {200, _body} = Client.call(socket, "for_bob", ~s({"a":1}), bob)
      assert_received {"for_bob", %{"a" => 1}}
      {_status, body} = Client.call(socket, "for_bob", "{}", alice)
      assert body =~ "-32602"
    end
  end

  describe "sessions of legacy clients" do
    test "open, serve and end", context do
      socket = context |> start([]) |> Client.connect()

      initialize =
        ~s({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",) <>
          ~s("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})

      assert {200, %{"mcp-session-id" => id}, _body} = Client.post(socket, initialize)
      session = [{"mcp-session-id", id}, {"mcp-protocol-version", "2025-11-25"}]
      ping = ~s({"jsonrpc":"2.0","id":2,"method":"ping"})
      assert {200, _headers, body} = Client.post(socket, ping, session)
      assert body =~ ~s("result":{})
      assert {status, _headers, _body} = Client.send_raw(socket, "DELETE", "", session)
      assert status in [200, 204]
      assert {404, _headers, _body} = Client.post(socket, ping, session)
    end
  end

  test "a listener opened by the host itself ends with its process", context do
    name = start(context, http: [])
    test = self()

    owner =
      spawn(fn ->
        send(
          test,
          BeamMCP.Native.start_http(
            [instance: name] ++ Keyword.put(@http, :authorize, fn _ -> :ok end)
          )
        )

        Process.sleep(:infinity)
      end)

    assert_receive {:ok, %Listener{address: address}}
    assert {200, _body} = Client.call(Client.connect_to(address), "echo", ~s({"value":1}))
    {:ok, instance} = BeamMCP.Instance.fetch(name)
    assert :ets.info(instance.hooks, :size) == 1
    Process.exit(owner, :kill)
    wait_until(fn -> refused?(address) and :ets.info(instance.hooks, :size) == 0 end)
  end

  def extra(tool, _arguments, _context, :further), do: {:ok, "#{tool} further #{__MODULE__}"}

  defp refused?({:tcp, ip, port}) do
    case :gen_tcp.connect(ip, port, []) do
      {:ok, socket} -> :gen_tcp.close(socket) && false
      {:error, _refused} -> true
    end
  end
end
