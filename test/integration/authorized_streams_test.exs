defmodule BeamMCP.AuthorizedStreamsTest do
  # What is open for long, and what is kept, belongs to who opened it: streams end with their token,
  # tell what its scopes permit, and state of one caller is nothing to another.
  use ExUnit.Case, async: false

  alias BeamMCP.{Context, ResourceSpec, ToolSpec}
  alias BeamMCP.Test.{AccessToken, Issuer, RawHTTP, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @methods BeamMCP.Scopes.all()

  defmodule Private do
    # Each caller sees a resource of its own, as long as it has one.
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities, do: %{tools: [], resources: [], prompts: []}

    @impl true
    def capabilities(%{principal: {_issuer, subject, _client}}) do
      owners = :persistent_term.get(__MODULE__)
      uri = "test://#{subject}"
      spec = %ResourceSpec{uri: uri, name: subject}
      %{tools: [], resources: if(subject in owners, do: [spec], else: []), prompts: []}
    end

    @impl true
    def read_resource(_uri, _context), do: {:ok, "mine"}
  end

  describe "a stream" do
    test "ends by its result when its token does, with nobody saying anything" do
      port = start(oauth: [leeway_s: 0])
      socket = listen(port, %{exp: System.os_time(:second) + 2})
      began = System.monotonic_time(:millisecond)
      read_until(socket, ~s("resultType":"complete"))
      assert System.monotonic_time(:millisecond) - began < 4_000
    end

    test "that of a session ends too" do
      port = start(oauth: [leeway_s: 0])
      claims = %{exp: System.os_time(:second) + 2}
      headers = session(port, claims) ++ [accept: "text/event-stream"]
      socket = RawHTTP.connect(port)
      RawHTTP.write(socket, "GET", "/mcp", headers)
      read_until(socket, "0\r\n\r\n")
    end

    test "ends when the token is revoked" do
      revoked = :counters.new(1, [])
      revocation = fn _facts -> if :counters.get(revoked, 1) == 0, do: :active, else: :revoked end
      port = start(oauth: [revocation: revocation])
      socket = listen(port, %{})
      :counters.add(revoked, 1, 1)
      Process.sleep(1_100)
      :ok = BeamMCP.notify_changed(__MODULE__, :tools)
      read = read_until(socket, ~s("resultType":"complete"))
      refute read =~ "list_changed"
    end

    test "asks about its token again, and ends when that is active no more" do
      {issuer, port} = asked()
      socket = hear(port, opaque())
      tell = fn -> Process.sleep(1_100) && BeamMCP.notify_changed(__MODULE__, :tools) end

      tell.()
      read_until(socket, "list_changed")
      assert length(Issuer.asked(issuer)) == 2

      # What waits, waits on while nobody can say.
      Issuer.put(issuer, "/introspect", {500, [], ""})
      tell.()
      assert {:error, :timeout} = :gen_tcp.recv(socket, 0, 500)
      Issuer.put(issuer, "/introspect", active())
      read_until(socket, "list_changed")

      Issuer.put(issuer, "/introspect", inactive())
      tell.()
      read = read_until(socket, ~s("resultType":"complete"))
      refute read =~ "list_changed"
    end

    test "that of a session does so too" do
      {issuer, port} = asked()
      headers = open_session(port, opaque()) ++ [accept: "text/event-stream"]
      socket = RawHTTP.connect(port)
      RawHTTP.write(socket, "GET", "/mcp", headers)
      read_until(socket, "200 OK")
      Issuer.put(issuer, "/introspect", inactive())
      Process.sleep(1_100)
      :ok = BeamMCP.notify_changed(__MODULE__, :tools)
      refute read_until(socket, "0\r\n\r\n") =~ "list_changed"
    end

    test "tells of resources that its scopes and the host permit, then" do
      permitted = :counters.new(1, [])
      test = self()

      hook = fn
        %{method: "subscriptions/listen"} = context, definition ->
          send(test, {:asked, context.principal, definition.name})
          definition.name != "test://open" or :counters.get(permitted, 1) == 1

        _context, _definition ->
          true
      end

      port = start(authorize_definition: hook)
      socket = listen(port, %{})
      :ok = BeamMCP.notify_resource_updated(__MODULE__, "test://hidden")
      :ok = BeamMCP.notify_resource_updated(__MODULE__, "test://open")
      assert_receive {:asked, {_issuer, "ann", _client}, "test://open"}
      :counters.add(permitted, 1, 1)
      Process.sleep(200)
      :ok = BeamMCP.notify_resource_updated(__MODULE__, "test://open")
      read = read_until(socket, "test://open")
      refute read =~ "test://hidden"
      # What is withheld leaves no trace: one event, no comment.
      assert [_one] = Regex.scan(~r/notifications\/resources\/updated/, read)
      refute read =~ ~r/^:/m
      refute_received {:asked, _principal, "test://hidden"}
    end
  end

  test "a stream tells of what its caller's own catalog has then" do
    :persistent_term.put(Private, ["ann", "bob"])
    port = start(catalog: Private, registrations: [])
    socket = hear(port, AccessToken.header(@methods), ["test://ann", "test://bob"])
    update = &BeamMCP.notify_resource_updated(__MODULE__, "test://" <> &1)

    update.("bob")
    update.("ann")
    refute read_until(socket, "test://ann") =~ "test://bob"

    :persistent_term.put(Private, ["bob"])
    update.("ann")
    assert {:error, :timeout} = :gen_tcp.recv(socket, 0, 500)

    :persistent_term.put(Private, ["ann"])
    update.("ann")
    read_until(socket, "test://ann")
  end

  test "a client is asked nothing once its token is revoked" do
    revoked = :counters.new(1, [])
    revocation = fn _facts -> if :counters.get(revoked, 1) == 0, do: :active, else: :revoked end
    port = start(oauth: [revocation: revocation])
    test = self()

    ask = fn _arguments, context ->
      Context.log(context, :info, "begun")
      send(test, {:asking, self()})
      receive do: (:go -> {:ok, inspect(Context.roots(context))})
    end

    :ok = BeamMCP.register_tool(__MODULE__, %ToolSpec{name: "ask"}, ask)
    headers = session(port, %{}, ~s({"roots":{}}))
    socket = RawHTTP.connect(port)
    body = ~s({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask"}})
    length = [content_type: "application/json", content_length: byte_size(body)]
    accept = [accept: "application/json, text/event-stream"]
    RawHTTP.write(socket, "POST", "/mcp", headers ++ length ++ accept, body)
    assert_receive {:asking, pid}
    :counters.add(revoked, 1, 1)
    send(pid, :go)
    read = read_until(socket, "0\r\n\r\n")
    refute read =~ "roots/list"
  end

  describe "of another caller" do
    test "a session is unknown" do
      port = start()
      [id, version, _token] = session(port, %{})
      body = ~s({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}})

      for {claims, status} <- [
            {%{}, 200},
            {%{sub: "bob"}, 404},
            {%{client_id: "other"}, 404}
          ] do
        headers = [id, version] ++ AccessToken.header(@methods, claims)
        assert RawHTTP.post(port, body, headers: headers).status == status
      end
    end

    test "a request state is none" do
      port = start()

      ask = fn _arguments, context ->
        {:ok,
         inspect(Context.elicit(context, "Sure?", %{"type" => "object", "properties" => %{}}))}
      end

      :ok = BeamMCP.register_tool(__MODULE__, %ToolSpec{name: "ask"}, ask)
      asked = call(port, "ask", ~s("arguments":{}), %{})
      {:ok, %{"result" => %{"requestState" => state, "inputRequests" => asks}}} = decode(asked)
      [key] = Map.keys(asks)

      params =
        ~s("arguments":{},"requestState":"#{state}","inputResponses":{"#{key}":{"action":"decline"}})

      assert call(port, "ask", params, %{sub: "bob"}).body =~ "-32602"
      assert call(port, "ask", params, %{client_id: "other"}).body =~ "-32602"
      assert call(port, "ask", params, %{}).body =~ ":decline"
    end

    test "a task is unknown" do
      port = start()
      task = fn _arguments -> {:task, fn _context -> {:ok, "done"} end} end
      spec = %ToolSpec{name: "work", task_support: :required}
      :ok = BeamMCP.register_tool(__MODULE__, spec, task)

      {:ok, %{"result" => %{"taskId" => id}}} =
        decode(call(port, "work", ~s("arguments":{}), %{}))

      assert {:ok, %{"result" => %{"taskId" => ^id}}} = decode(task(port, id, %{}))
      assert {:ok, %{"error" => %{"code" => -32602}}} = decode(task(port, id, %{sub: "bob"}))
    end

    test "what is staged is unknown" do
      port = start()

      stage = fn _arguments, context ->
        {:open, id} = Context.stage(context, :page, "for ann")
        {:ok, id}
      end

      :ok = BeamMCP.register_tool(__MODULE__, %ToolSpec{name: "stage"}, stage)

      {:ok, %{"result" => %{"content" => [%{"text" => id}]}}} =
        decode(call(port, "stage", ~s("arguments":{}), %{}))

      ann = {"https://auth.example.com", "ann", "client"}

      for other <- [put_elem(ann, 1, "bob"), put_elem(ann, 2, "other"), :anonymous] do
        assert BeamMCP.take_staged(__MODULE__, id, other) == {:error, :unknown}
      end

      assert BeamMCP.take_staged(__MODULE__, id, ann) == {:ok, "for ann"}
    end
  end

  defp call(port, tool, params, claims) do
    meta =
      ~s("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",) <>
        ~s("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},) <>
        ~s("extensions":{"io.modelcontextprotocol/tasks":{}}}})

    body =
      ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"#{tool}",#{params},#{meta}}})

    headers = [mcp_name: tool] ++ AccessToken.header(@methods, claims)
    RawHTTP.modern(port, "tools/call", "", body: body, headers: headers)
  end

  defp task(port, id, claims) do
    headers = [mcp_name: id] ++ AccessToken.header(@methods, claims)

    meta =
      ~s("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",) <>
        ~s("io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})

    body = ~s({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"#{id}",#{meta}}})
    RawHTTP.modern(port, "tasks/get", "", body: body, headers: headers)
  end

  defp decode(response), do: BeamMCP.Native.decode(response.body)

  # An instance whose issuer is asked about tokens; what it says counts for a second.
  defp asked do
    issuer = start_supervised!({Issuer, %{"/introspect" => active()}})
    url = Issuer.url(issuer, "/introspect")
    keys = {:introspect, url, client_id: "mcp", client_secret: "a secret"}
    issuers = [[issuer: "https://auth.example.com", keys: keys]]
    {issuer, start(oauth: [issuers: issuers])}
  end

  defp active do
    answer(%{
      active: true,
      iss: "https://auth.example.com",
      aud: "https://mcp.example.com/mcp",
      sub: "ann",
      scope: Enum.join(@methods, " "),
      exp: System.os_time(:second) + 1
    })
  end

  defp inactive, do: answer(%{active: false})

  defp answer(map) do
    {:ok, json} = BeamMCP.Native.encode(map)
    {200, [], json}
  end

  defp opaque, do: [authorization: "Bearer opaque"]

  defp listen(port, claims), do: hear(port, AccessToken.header(@methods, claims))

  defp hear(port, credentials, uris \\ ["test://open", "test://hidden"]) do
    uris = Enum.map_join(uris, ",", &inspect/1)
    filter = ~s("notifications":{"toolsListChanged":true,"resourceSubscriptions":[#{uris}]})

    body = RawHTTP.body("subscriptions/listen", filter)
    socket = RawHTTP.connect(port)

    headers = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: byte_size(body),
      mcp_protocol_version: "2026-07-28",
      mcp_method: "subscriptions/listen"
    ]

    RawHTTP.write(socket, "POST", "/mcp", headers ++ credentials, body)
    read_until(socket, "subscriptions/acknowledged")
    socket
  end

  defp read_until(socket, text, read \\ "") do
    if read =~ text do
      read
    else
      {:ok, more} = :gen_tcp.recv(socket, 0, 10_000)
      read_until(socket, text, read <> more)
    end
  end

  defp session(port, claims, capabilities \\ "{}"),
    do: open_session(port, AccessToken.header(@methods, claims), capabilities)

  defp open_session(port, token, capabilities \\ "{}") do
    params =
      ~s({"protocolVersion":"2025-11-25","capabilities":#{capabilities},"clientInfo":{"name":"t","version":"1"}})

    body = ~s({"jsonrpc":"2.0","id":1,"method":"initialize","params":#{params}})
    [id] = port |> RawHTTP.post(body, headers: token) |> RawHTTP.header_values("mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"] ++ token
  end

  defp start(options \\ []) do
    {oauth, options} = Keyword.pop(options, :oauth, [])
    http = [port: 0, allowed_origins: [], authorize: AccessToken.authorize(oauth)]
    done = fn _asked -> {:ok, "done"} end
    hidden = [required_scopes: ["secret"], denial: :neutral]

    registrations = [
      {:tool, %ToolSpec{name: "open"}, done},
      {:resource, %ResourceSpec{uri: "test://open", name: "open"}, done},
      {:resource, struct!(ResourceSpec, [uri: "test://hidden", name: "hidden"] ++ hidden), done}
    ]

    own = [name: __MODULE__, registrations: registrations, http: http]
    start_supervised!({BeamMCP, Keyword.merge(own, options)}, id: __MODULE__)
    Wire.port(__MODULE__)
  end
end
