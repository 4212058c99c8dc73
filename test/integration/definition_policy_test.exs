defmodule BeamMCP.DefinitionPolicyTest do
  # Who may use which definition, over a socket: what is hidden cannot be told from what does not
  # exist, by bytes, headers or time; and what the host says of definitions.
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias BeamMCP.{Context, Definition, PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}
  alias BeamMCP.Test.{AccessToken, RawHTTP, Wire}

  @moduletag :capture_log

  @methods BeamMCP.Scopes.all()
  @step_up ~s(error="insufficient_user_authentication", error_description="A stronger or more recent sign-in is needed", )

  describe "a hidden definition" do
    @describetag :integration

    test "is answered byte for byte as one that does not exist, on every method" do
      port = start(denial: :neutral)

      for kind <- [:modern, :session], header = header(port, kind), asked <- requests() do
        [hidden, unknown] =
          for name <- ["hidden", "absent"], do: ask(port, kind, header, asked, name)

        assert hidden == unknown
        assert hidden.body =~ ~s("error":)
      end
    end

    test "is subscribed to as one that does not exist, and what says so is challenged" do
      subscribe = {"resources/subscribe", &~s("uri":"test://#{&1}"), &"test://#{&1}"}
      port = start(denial: :neutral)
      header = header(port, :session)

      [hidden, absent] =
        for name <- ~w(hidden absent), do: ask(port, :session, header, subscribe, name)

      assert hidden == absent
      assert hidden.status == 200
      stop_supervised!(__MODULE__)

      port = start(denial: :challenge)
      response = ask(port, :session, header(port, :session), subscribe, "hidden")
      assert response.status == 403
      assert response.body =~ ~s("requiredScopes":["mcp:resources:read","secret"])
    end

    test "is in no list, and a page is full without it" do
      port = start(denial: :neutral, page_size: 1)

      for {method, member} <- lists() do
        response = RawHTTP.modern(port, method, "", headers: AccessToken.header(@methods))
        assert %{^member => [%{"name" => "open"}]} = result(response)
        refute response.body =~ "nextCursor"
        refute response.body =~ "hidden"
        assert response.body =~ ~s("cacheScope":"private")
      end

      for {method, member} <- lists() do
        header = AccessToken.header(@methods ++ ["secret"])

        assert %{"nextCursor" => cursor} =
                 result(RawHTTP.modern(port, method, "", headers: header))

        next = RawHTTP.modern(port, method, ~s("cursor":"#{cursor}"), headers: header)
        assert %{^member => [%{"name" => "hidden"}]} = result(next)
        # Another caller's cursor is none.
        other = AccessToken.header(@methods ++ ["secret"], %{sub: "bob"})

        assert RawHTTP.modern(port, method, ~s("cursor":"#{cursor}"), headers: other).body =~
                 "-32602"
      end
    end
  end

  describe "no clock tells a hidden definition from one that does not exist" do
    @describetag :exhaustive

    test "by its scopes" do
      port = start(denial: :neutral)
      assert_in_delta area(port, 10_000, @methods), 0.5, 0.03
    end

    test "by what the host says" do
      port =
        start(authorize_definition: fn _context, definition -> definition.name != "hidden" end)

      assert_in_delta area(port, 2_000, @methods ++ ["secret"]), 0.5, 0.05
    end
  end

  describe "authorize_definition" do
    @describetag :integration

    test "is asked with the caller and the definition, in a process of its own" do
      test = self()

      hook = fn context, definition ->
        send(test, {:asked, self(), context, definition})
        true
      end

      port = start(authorize_definition: hook)
      header = AccessToken.header(@methods ++ ["secret"])
      assert RawHTTP.call(port, "hidden", "{}", headers: header).status == 200
      assert_receive {:asked, pid, %Context{} = context, definition}
      assert definition == %Definition{kind: :tool, name: "hidden"}
      assert {"https://auth.example.com", "ann", "client"} = context.principal
      assert context.scopes == @methods ++ ["secret"]
      refute Process.alive?(pid)

      read(port, "test://hiddens/7", header)
      assert_receive {:asked, _pid, %Context{method: "resources/read"}, definition}

      assert definition == %Definition{
               kind: :template,
               name: "test://hiddens/{id}",
               uri: "test://hiddens/7"
             }
    end

    test "denies with whatever is not true, with a fault and when it is late" do
      header = AccessToken.header(@methods ++ ["secret"])

      for answer <- [
            fn -> false end,
            fn -> :ok end,
            fn -> {:ok, true} end,
            fn -> raise "on purpose" end,
            fn -> exit(:on_purpose) end,
            fn -> Process.sleep(:infinity) end,
            fn -> Process.exit(self(), :kill) end
          ] do
        hook = fn _context, _definition -> answer.() end
        port = start(authorize_definition: hook, hook_timeout_ms: 300)
        response = RawHTTP.call(port, "hidden", "{}", headers: header)
        assert response.body =~ ~s("code":-32602,"message":"Unknown tool: hidden")

        for {method, member} <- lists() do
          assert %{^member => []} = result(RawHTTP.modern(port, method, "", headers: header))
        end

        stop_supervised!(__MODULE__)
      end
    end

    test "is asked for each of a list, and its faults leave one out" do
      hook = fn
        _context, %{name: "open"} -> true
        _context, %{name: "test://open"} -> raise "on purpose"
        _context, %{kind: kind} -> kind == :template
      end

      port = start(authorize_definition: hook)
      header = AccessToken.header(@methods ++ ["secret"])

      log =
        capture_log(fn ->
          names =
            for {method, member} <- lists() do
              rows = result(RawHTTP.modern(port, method, "", headers: header))[member]
              Enum.map(rows, & &1["name"])
            end

          assert names == [["open"], [], ["open", "hidden"], ["open"]]
        end)

      assert log =~ "authorize_definition"
    end

    test "runs without an access token too, and then no sign-in is enough" do
      hook = fn context, _definition -> context.principal == :ann end
      step_up = fn _context, _definition -> {:step_up, [], 60} end
      listener = [authorize: fn _request -> {:ok, :ann} end]
      port = start(authorize_definition: hook, http: listener)
      assert RawHTTP.call(port, "open").status == 200
      stop_supervised!(__MODULE__)

      port = start(step_up: step_up, http: listener)
      response = RawHTTP.call(port, "open")
      assert response.status == 401
      assert response.body =~ ~s("id":1,"error":{"code":-31401)
    end
  end

  describe "step_up" do
    @describetag :integration

    test "asks for a better sign-in, once scopes suffice" do
      step_up = fn _context, _definition -> {:step_up, ["phr", "phrh"], 300} end
      port = start(step_up: step_up, denial: :challenge)
      weak = AccessToken.header(@methods ++ ["secret"])
      response = RawHTTP.call(port, "hidden", "{}", headers: weak)
      assert response.status == 401

      assert RawHTTP.header_values(response, "www-authenticate") == [
               "Bearer #{@step_up}acr_values=\"phr phrh\", max_age=\"300\", " <>
                 ~s(resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp")
             ]

      assert response.body ==
               ~s({"jsonrpc":"2.0","id":1,"error":{"code":-31401,"message":"Unauthorized"}})

      now = System.os_time(:second)
      strong = %{acr: "phrh", auth_time: now - 100}
      assert called(port, strong).status == 200
      assert called(port, %{strong | auth_time: now - 400}).status == 401
      assert called(port, %{strong | acr: "pwd"}).status == 401
      scopes = AccessToken.header(@methods, strong)
      assert RawHTTP.call(port, "hidden", "{}", headers: scopes).status == 403
    end

    test "answers something else, or raises: denied" do
      for answer <- [fn -> true end, fn -> {:step_up, "phr", 1} end, fn -> raise "on purpose" end] do
        port = start(step_up: fn _context, _definition -> answer.() end)
        assert called(port, %{}).body =~ "Unknown tool: hidden"
        stop_supervised!(__MODULE__)
      end
    end
  end

  defp called(port, claims) do
    header = AccessToken.header(@methods ++ ["secret"], claims)
    RawHTTP.call(port, "hidden", "{}", headers: header)
  end

  # How often the answer to the one takes longer than that to the other, ties counting half: 0.5 for
  # times that tell nothing apart. Pairs are interleaved, in an order that changes, so that a busy
  # machine is as busy for both.
  defp area(port, pairs, scopes) do
    header = AccessToken.header(scopes)
    sockets = for _ <- 1..2, do: RawHTTP.connect(port)

    for _ <- 1..200,
        socket <- sockets,
        name <- ["hidden", "absent"],
        do: time(socket, name, header)

    times =
      for number <- 1..pairs do
        socket = Enum.at(sockets, rem(div(number, 2), 2))

        if rem(number, 2) == 0,
          do: {time(socket, "hidden", header), time(socket, "absent", header)},
          else: swap({time(socket, "absent", header), time(socket, "hidden", header)})
      end

    {hidden, absent} = Enum.unzip(times)
    rank(hidden, absent)
  end

  defp swap({one, other}), do: {other, one}

  defp time(socket, name, header) do
    began = System.monotonic_time()
    %{status: 200} = RawHTTP.call(socket, name, "{}", headers: header)
    System.monotonic_time() - began
  end

  # The Mann-Whitney statistic over the number of all pairs.
  defp rank(ones, others) do
    tagged = Enum.map(ones, &{&1, 1}) ++ Enum.map(others, &{&1, 0})

    {sum, _rank} =
      tagged
      |> Enum.sort()
      |> Enum.chunk_by(&elem(&1, 0))
      |> Enum.reduce({0, 0}, fn tied, {sum, before} ->
        middle = before + (length(tied) + 1) / 2
        {sum + middle * Enum.count(tied, &(elem(&1, 1) == 1)), before + length(tied)}
      end)

    count = length(ones)
    (sum - count * (count + 1) / 2) / (count * length(others))
  end

  defp requests do
    [
      {"tools/call", &~s("name":"#{&1}","arguments":{"wrong":1}), & &1},
      {"resources/read", &~s("uri":"test://#{&1}"), &"test://#{&1}"},
      {"resources/read", &~s("uri":"test://#{&1}s/7"), &"test://#{&1}s/7"},
      {"prompts/get", &~s("name":"#{&1}"), & &1},
      {"completion/complete",
       &~s("ref":{"type":"ref/prompt","name":"#{&1}"},"argument":{"name":"a","value":""}),
       fn _ -> nil end},
      {"completion/complete",
       &~s("ref":{"type":"ref/resource","uri":"test://#{&1}s/{id}"},"argument":{"name":"id","value":""}),
       fn _ -> nil end}
    ]
  end

  defp header(_port, :modern), do: AccessToken.header(@methods)

  defp header(port, :session) do
    params =
      ~s({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})

    token = AccessToken.header(@methods)
    body = ~s({"jsonrpc":"2.0","id":1,"method":"initialize","params":#{params}})
    [id] = port |> RawHTTP.post(body, headers: token) |> RawHTTP.header_values("mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"] ++ token
  end

  # The answer with the name that was asked for taken out; both names have the same length.
  defp ask(port, kind, header, {method, params, named}, name) do
    response =
      case kind do
        :modern ->
          headers = [mcp_name: named.(name)] ++ header
          RawHTTP.modern(port, method, params.(name), headers: headers)

        :session ->
          body = ~s({"jsonrpc":"2.0","id":1,"method":"#{method}","params":{#{params.(name)}}})
          RawHTTP.post(port, body, headers: header)
      end

    headers = for {key, value} <- response.headers, key != "date", do: {key, value}
    %{response | body: String.replace(response.body, name, "*"), headers: headers}
  end

  defp read(port, uri, header),
    do:
      RawHTTP.modern(port, "resources/read", ~s("uri":"#{uri}"),
        headers: [mcp_name: uri] ++ header
      )

  defp lists do
    [
      {"tools/list", "tools"},
      {"resources/list", "resources"},
      {"resources/templates/list", "resourceTemplates"},
      {"prompts/list", "prompts"}
    ]
  end

  defp result(response) do
    {:ok, %{"result" => result}} = BeamMCP.Native.decode(response.body)
    result
  end

  defp start(options) do
    {denial, options} = Keyword.pop(options, :denial)
    {listener, options} = Keyword.pop(options, :http, authorize: AccessToken.authorize())
    http = [port: 0, allowed_origins: []] ++ listener
    registrations = for name <- ["open", "hidden"], one <- offers(name, denial), do: one
    own = [name: __MODULE__, registrations: registrations, http: http]
    start_supervised!({BeamMCP, own ++ options}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp offers(name, denial) do
    access = if name == "hidden", do: [required_scopes: ["secret"], denial: denial], else: []
    done = fn _asked -> {:ok, "done"} end
    uri = "test://#{name}s/{id}"

    [
      {:tool, struct!(ToolSpec, [name: name] ++ access), done},
      {:resource, struct!(ResourceSpec, [uri: "test://#{name}", name: name] ++ access), done},
      {:template, struct!(ResourceTemplateSpec, [uri_template: uri, name: name] ++ access), done},
      {:prompt, struct!(PromptSpec, [name: name] ++ access), done},
      {:completion, {:prompt, name}, fn _asked -> {:ok, []} end},
      {:completion, {:resource, uri}, fn _asked -> {:ok, []} end}
    ]
  end
end
