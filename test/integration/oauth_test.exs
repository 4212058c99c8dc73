defmodule BeamMCP.OAuthTest.Wire do
  # A protected resource as a client meets it: metadata, where tokens may be, what browsers see.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{RawHTTP, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @now 1_800_000_000
  @root "/.well-known/oauth-protected-resource"
  @app "https://app.example"

  setup context do
    {:ok, port: start(Map.get(context, :oauth, []))}
  end

  describe "the metadata" do
    test "is at the path of the endpoint and at the root, for everybody", %{port: port} do
      for path <- [@root <> "/mcp", @root] do
        response = RawHTTP.request(port, "GET", path, origin: "https://anywhere.example")
        assert response.status == 200
        assert header(response, "content-type") == "application/json"
        assert header(response, "cache-control") == "public, max-age=300"
        assert header(response, "access-control-allow-origin") == "*"

        assert decode(response.body) == %{
                 "resource" => "https://mcp.example.com/mcp",
                 "authorization_servers" => ["https://auth.example.com"],
                 "scopes_supported" => ["mcp:tools:read"],
                 "bearer_methods_supported" => ["header"],
                 "resource_name" => "Example",
                 "dpop_signing_alg_values_supported" => ~w(ES256 RS256 PS256 EdDSA Ed25519),
                 "dpop_bound_access_tokens_required" => false
               }
      end
    end

    test "is not built from Host", %{port: port} do
      response = RawHTTP.request(port, "GET", @root, host: "evil.example")
      assert decode(response.body)["resource"] == "https://mcp.example.com/mcp"
    end

    test "is not sent again to who has it", %{port: port} do
      etag = header(RawHTTP.request(port, "GET", @root), "etag")
      assert etag =~ ~r/\A"[0-9a-f]{16}"\z/

      for has <- [etag, "W/" <> etag, ~s("other", ) <> etag, "*"] do
        response = RawHTTP.request(port, "GET", @root, if_none_match: has)
        assert {response.status, response.body} == {304, ""}
        assert header(response, "etag") == etag
      end

      assert RawHTTP.request(port, "GET", @root, if_none_match: ~s("other")).status == 200
    end

    test "has HEAD, a preflight, and no other method", %{port: port} do
      socket = RawHTTP.connect(port)
      RawHTTP.write(socket, "HEAD", @root, [])
      {:ok, head} = :gen_tcp.recv(socket, 0, 2_000)
      assert head =~ ~r{\AHTTP/1.1 200 OK\r\n}
      assert head =~ ~r/etag: "/
      assert String.ends_with?(head, "\r\n\r\n")

      preflight = RawHTTP.request(port, "OPTIONS", @root)
      assert preflight.status == 204
      assert header(preflight, "access-control-allow-methods") == "GET, HEAD"
      assert header(preflight, "access-control-allow-headers") == "*"

      other = RawHTTP.request(port, "DELETE", @root)
      assert other.status == 405
      assert header(other, "allow") == "GET, HEAD, OPTIONS"
    end

    @tag oauth: [serve_root_metadata: false]
    test "may be kept from the root", %{port: port} do
      assert RawHTTP.request(port, "GET", @root).status == 404
      assert RawHTTP.request(port, "GET", @root <> "/mcp").status == 200
    end
  end

  describe "a token" do
    test "names the caller, its scopes and its claims", %{port: port} do
      response = call(port, authorization: "Bearer " <> token())

      assert %{"principal" => principal, "scopes" => scopes, "sender" => "bearer"} =
               decode(response.body)["result"]["structuredContent"]

      assert principal ==
               ~s({"https://auth.example.com", "user-7f3a", "https://client.example.net/oauth/client.json"})

      assert scopes == ["mcp:tools:read", "mcp:tools:call"]
      assert header(response, "vary") == "Authorization, DPoP, Origin"
    end

    test "is answered the same when it comes again", %{port: port} do
      [first | others] = for _ <- 1..5, do: call(port, authorization: "Bearer " <> token()).body
      for other <- others, do: assert(other == first)
    end

    test "comes in one Authorization header and nowhere else", %{port: port} do
      good = "Bearer " <> token()
      query = "/mcp?access_token=" <> token()

      for {headers, options, status, code} <- [
            {[authorization: [good, good]], [], 400, -31_400},
            {[authorization: ["Bearer x", good]], [], 400, -31_400},
            {[authorization: good <> ", " <> good], [], 401, -31_401},
            {[authorization: "Bearer"], [], 400, -31_400},
            {[authorization: "Basic dTpw"], [], 401, -31_401},
            {[cookie: "access_token=" <> token()], [], 401, -31_401},
            {[], [path: query], 400, -31_400},
            {[authorization: good], [path: query], 400, -31_400},
            {[authorization: good], [path: "/mcp?access%5Ftoken=x"], 400, -31_400}
          ] do
        response = call(port, headers, options)
        assert {response.status, decode(response.body)["error"]["code"]} == {status, code}
        assert header(response, "cache-control") == "no-store"
      end
    end

    test "that is not right closes the connection before the body is read", %{port: port} do
      socket = RawHTTP.connect(port)
      headers = [content_type: "application/json", content_length: 100, authorization: "Bearer x"]
      RawHTTP.write(socket, "POST", "/mcp", headers)
      assert RawHTTP.read(socket, 2_000).status == 401
      assert RawHTTP.closed?(socket)
    end
  end

  describe "a challenge" do
    test "suggests what the method needs, or what everything needs", %{port: port} do
      for {method, scope} <- [
            {"tools/list", "mcp:tools:read"},
            {"tools/call", "mcp:tools:call"},
            {"no/such", "mcp:tools:read mcp:tools:call"},
            {"a\", realm=\"x", "mcp:tools:read mcp:tools:call"},
            {nil, "mcp:tools:read mcp:tools:call"}
          ] do
        response = call(port, mcp_method: method)
        [bearer, _dpop] = RawHTTP.header_values(response, "www-authenticate")
        assert bearer =~ ~s( scope="#{scope}", resource_metadata=), inspect(method)
      end
    end

    test "suggests what a tool needs too, unless it is not to be known", %{port: port} do
      for {name, scope} <- [
            {"told", "mcp:tools:call notes.delete"},
            {"=?base64?#{Base.encode64("told")}?=", "mcp:tools:call notes.delete"},
            {"hidden", "mcp:tools:call"},
            {"no_such_tool", "mcp:tools:call"},
            {"a\", realm=\"x", "mcp:tools:call"}
          ] do
        headers = [mcp_method: "tools/call", mcp_name: name]
        response = RawHTTP.request(port, "POST", "/mcp", headers)
        assert response.status == 401
        [bearer, _dpop] = RawHTTP.header_values(response, "www-authenticate")
        assert bearer =~ ~s( scope="#{scope}", resource_metadata=), name
      end
    end

    test "can be read by a page of an allowed origin, and by no other", %{port: port} do
      response = call(port, origin: @app)
      assert response.status == 401
      assert header(response, "access-control-allow-origin") == @app
      exposed = header(response, "access-control-expose-headers")
      for name <- ["WWW-Authenticate", "DPoP-Nonce"], do: assert(exposed =~ name)

      foreign = call(port, origin: "https://evil.example", authorization: "Bearer " <> token())
      assert foreign.status == 403
      assert RawHTTP.header_values(foreign, "www-authenticate") == []
    end

    test "is not needed for a preflight, which admits proofs", %{port: port} do
      headers = [origin: @app, access_control_request_method: "POST"]
      response = RawHTTP.request(port, "OPTIONS", "/mcp", headers)
      assert response.status == 204
      assert header(response, "access-control-allow-headers") =~ "authorization, dpop"
    end
  end

  defp start(oauth) do
    jwks = File.read!(Path.join(@fixtures, "jwks.json"))
    issuer = [issuer: "https://auth.example.com", keys: {:static, jwks}]

    oauth =
      Keyword.merge(
        [
          resource: "https://mcp.example.com/mcp",
          issuers: [issuer],
          scopes_supported: ["mcp:tools:read"],
          resource_name: "Example",
          now_s: @now
        ],
        oauth
      )

    listener = [authorize: {:oauth, oauth}, allowed_origins: [@app]]
    own = [http: listener, registrations: registrations()]
    start_supervised!({BeamMCP, Wire.options(__MODULE__, own)})
    Wire.port(__MODULE__)
  end

  defp registrations do
    for {name, denial} <- [{"told", :challenge}, {"hidden", :neutral}] do
      tool = %BeamMCP.ToolSpec{name: name, required_scopes: ["notes.delete"], denial: denial}
      {:tool, tool, fn _arguments -> {:ok, "done"} end}
    end
  end

  defp call(port, headers, options \\ []),
    do: RawHTTP.call(port, "whoami", "{}", [headers: headers] ++ options)

  defp token do
    {:ok, %{"cases" => [%{"id" => "at-valid-es256", "token" => token} | _]}} =
      @fixtures |> Path.join("access-tokens.json") |> File.read!() |> BeamMCP.Native.decode()

    token
  end

  defp header(response, name) do
    assert [value] = RawHTTP.header_values(response, name)
    value
  end

  defp decode(json) do
    {:ok, value} = BeamMCP.Native.decode(json)
    value
  end
end
