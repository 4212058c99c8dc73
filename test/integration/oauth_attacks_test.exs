defmodule BeamMCP.OAuthAttacksTest do
  # What somebody tries who has no right token, over a socket. Tokens that are wrong in one way are in
  # oauth_vectors_test.exs; here are those that take a key, an issuer or a request of one's own.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{Issuer, RawHTTP, Token, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @issuer "https://auth.example.com"
  @other "https://other.example.com"

  setup context do
    key = Token.key()
    issuers = Map.get(context, :issuers, fn key -> [issuer(@issuer, [key])] end)
    if issuers, do: start(issuers.(key))
    {:ok, key: key, port: issuers && Wire.port(__MODULE__)}
  end

  test "the key of these tests is believed", %{key: key, port: port} do
    assert status(port, Token.sign(key)) == 200
  end

  describe "the algorithm" do
    test "is not HMAC with what everybody can read", %{key: key, port: port} do
      <<4, x::binary-32, _y::binary-32>> = key.point
      pem = Token.pem(key)

      for secret <- [pem, String.trim(pem), Token.set([key]), key.point, x, ""] do
        assert status(port, Token.hmac(key, secret)) == 401
      end
    end

    test "is not none, however it is spelled", %{port: port} do
      for alg <- ["none", "None", "NONE", "nOnE", "", "none\u0000", "ES256 none"] do
        assert status(port, Token.unsigned(alg)) == 401, inspect(alg)
      end
    end
  end

  describe "where the key is" do
    test "is nothing that `kid` could say", %{key: key, port: port} do
      own = Token.key()

      for kid <- [
            "../../../../dev/null",
            "/proc/self/environ",
            "file:///etc/passwd",
            "' UNION SELECT 'secret' --",
            "ours\u0000",
            "OURS",
            " ours",
            "",
            "$(id)",
            String.duplicate("k", 8_000)
          ] do
        assert status(port, Token.sign(own, Token.claims(), %{kid: kid})) == 401, kid
        # Nor does another name reach the key that would fit.
        assert status(port, Token.sign(key, Token.claims(), %{kid: kid})) == 401, kid
      end
    end

    test "is nowhere that a token says", %{port: port} do
      # As far as the token is asked, its key is right.
      own = Token.key()
      place = start_supervised!({Issuer, %{"/jwks" => {200, [], Token.set([own])}}})
      url = Issuer.url(place, "/jwks")

      for header <- [
            %{jku: url},
            %{x5u: url},
            %{jku: url, x5u: url, jwk: Token.jwk(own)},
            %{jwk: Token.jwk(own)},
            %{x5c: ["MIIB"], x5t: "x"}
          ] do
        assert status(port, Token.sign(own, Token.claims(), header)) == 401, inspect(header)
      end

      assert Issuer.asked(place) == []
    end

    @tag issuers: &__MODULE__.two_issuers/1
    test "is with the issuer that the token names, and with no other", %{key: key, port: port} do
      other = other_key()
      named = fn issuer -> Token.claims(%{iss: issuer}) end

      assert status(port, Token.sign(key, named.(@issuer))) == 200
      assert status(port, Token.sign(other, named.(@other))) == 200

      for {key, issuer, header} <- [
            {other, @issuer, %{}},
            {key, @other, %{}},
            {other, @issuer, %{kid: key.kid}},
            {key, @other, %{kid: other.kid}},
            {key, "https://AUTH.example.com", %{}},
            {key, @issuer <> "/", %{}},
            {key, "https://nobody.example.com", %{}}
          ] do
        assert status(port, Token.sign(key, named.(issuer), header)) == 401, issuer
      end
    end
  end

  describe "claims" do
    test "that come twice are neither the one nor the other", %{key: key, port: port} do
      {:ok, json} = BeamMCP.Native.encode(Token.claims())
      twice = fn member -> String.replace_prefix(json, "{", "{" <> member <> ",") end
      assert status(port, Token.sign(key, json)) == 200

      for member <- [
            ~s("aud":"https://mcp.example.com/mcp"),
            ~s("aud":"https://evil.example.com"),
            ~s("exp":1800000600),
            ~s("sub":"root"),
            ~s("su\\u0062":"root"),
            ~s("scope":"everything")
          ] do
        assert status(port, Token.sign(key, twice.(member))) == 401, member
      end
    end

    test "for another resource help nobody here", %{key: key, port: port} do
      for audience <- [
            "https://mcp.example.com",
            "https://mcp.example.com/mcp/",
            "https://mcp.example.com/mcp2",
            "https://mcp.example.com/MCP",
            "https://mcp.example.com:443/mcp",
            "https://mcp.example.com/mcp?x",
            "http://mcp.example.com/mcp",
            "https://evil.example.com/https://mcp.example.com/mcp",
            ["https://evil.example.com"],
            "*",
            []
          ] do
        assert status(port, Token.sign(key, Token.claims(%{aud: audience}))) == 401,
               inspect(audience)
      end
    end

    test "grant no scope that only looks like ours", %{key: key, port: port} do
      # The charset of scopes is ASCII (RFC 6749 §3.3): anything else makes the token wrong.
      for scope <- [
            "mcp:tools:call\u200b",
            "mcp:t\u043e\u043els:call",
            "\uff4dcp:tools:call",
            "mcp\uff1atools\uff1acall",
            "mcp:tools:call\u0301",
            "mcp:tools:read\u00a0mcp:tools:call",
            "mcp:tools:read\u2028mcp:tools:call",
            "mcp:tools:read\tmcp:tools:call",
            "mcp:tools:read\nmcp:tools:call",
            "mcp:tools:call\u0000",
            "\u202emcp:tools:call"
          ] do
        response = call(port, Token.sign(key, Token.claims(%{scope: scope})))
        assert response.status == 401, inspect(scope)
        refute response.body <> inspect(response.headers) =~ ~r/[^\x00-\x7f]/
      end

      # And these are scopes, of somebody else.
      for scope <- [
            "MCP:TOOLS:CALL",
            "mcp:tools:*",
            "mcp:tools",
            "*",
            "mcp:tools:call:x",
            "mcp%3Atools%3Acall"
          ] do
        assert status(port, Token.sign(key, Token.claims(%{scope: scope}))) == 403, scope
      end
    end
  end

  describe "a request" do
    test "that is too large is refused before its signature is looked at", %{key: key, port: port} do
      long = Token.sign(key, Token.claims(%{more: String.duplicate("x", 14_000)}))
      assert byte_size(long) > 16_384
      assert status(port, long) == 401
      assert status(port, String.duplicate("x", 40_000)) == 431
      assert status(port, String.duplicate("a.", 8_000)) == 401
    end

    test "has no second place for its token", %{key: key, port: port} do
      token = Token.sign(key)
      form = [content_type: "application/x-www-form-urlencoded"]
      body = "access_token=" <> token

      for {headers, body, path, status} <- [
            {form, body, "/mcp", 401},
            {[], ~s({"access_token":"#{token}"}), "/mcp", 401},
            {[cookie: "access_token=" <> token], "{}", "/mcp", 401},
            {[proxy_authorization: "Bearer " <> token], "{}", "/mcp", 401},
            {[x_forwarded_authorization: "Bearer " <> token], "{}", "/mcp", 401},
            {[], "{}", "/mcp?access_token=" <> token, 400},
            {[], "{}", "/mcp?x=1&%61ccess_token=" <> token, 400},
            {[], "{}", "/mcp?ACCESS_TOKEN=" <> token, 401}
          ] do
        response = RawHTTP.post(port, body, headers: headers, path: path)
        assert response.status == status, inspect({headers, path})
        refute response.body =~ token
      end
    end

    test "has one Authorization, by whatever name", %{key: key, port: port} do
      good = "Bearer " <> Token.sign(key)

      for {lines, status} <- [
            {"Authorization: #{good}\r\nAuthorization: #{good}\r\n", 400},
            {"Authorization: #{good}\r\nAUTHORIZATION: Bearer x\r\n", 400},
            {"authorization: Bearer x\r\nAuthorization: #{good}\r\n", 400},
            {"Authorization:\r\nAuthorization: #{good}\r\n", 400},
            {"Authorization: #{good}, #{good}\r\n", 401},
            {"Authorization: Bearer\r\n #{good}\r\n", 400},
            {"Authorization : #{good}\r\n", 400},
            {"Authorization\u0000: #{good}\r\n", 400},
            {"Authorization: #{good}\u0000\r\n", 400},
            {"Authorization: #{good}\r\n", 200}
          ] do
        assert raw(port, lines) == status, inspect(lines)
      end
    end
  end

  describe "an issuer" do
    @describetag issuers: nil

    setup do
      # The native threads that fetch start with the first instance.
      start_supervised!({BeamMCP, name: :threads})
      {:ok, place: start_supervised!({Issuer, %{}})}
    end

    test "that sends 10,000 keys has none", %{key: key, place: place} do
      few = Token.set(for number <- 1..33, do: %{key | kid: "key #{number}"})
      small = ~s({"keys":[#{Enum.map_join(1..10_000, ",", fn _n -> ~s({"kty":"x"}) end)}]})
      large = Token.set(for number <- 1..10_000, do: %{key | kid: "key #{number}"})

      for {set, number} <- Enum.with_index([few, small, large]) do
        Issuer.put(place, "/#{number}", {200, [], set})
        start([issuer(@issuer, {:jwks_uri, Issuer.url(place, "/#{number}")})])
        {us, status} = :timer.tc(fn -> status(Wire.port(__MODULE__), Token.sign(key)) end)
        assert status == 503
        assert us < 2_000_000
        stop_supervised!(__MODULE__)
      end
    end

    test "that never answers holds up those who need its keys, for a while",
         %{key: key} = context do
      Issuer.put(context.place, "/jwks", :hang)
      hung = issuer(@issuer, {:jwks_uri, Issuer.url(context.place, "/jwks")})
      start([hung, issuer(@other, [key])])
      port = Wire.port(__MODULE__)
      waiting = for _n <- 1..50, do: Task.async(fn -> patient_status(port, Token.sign(key)) end)

      # Nobody else hears of it.
      assert status(port, Token.sign(key, Token.claims(%{iss: @other}))) == 200
      assert RawHTTP.call(port, "whoami").status == 401

      assert Enum.uniq(Task.await_many(waiting, 20_000)) == [503]
      assert Issuer.asked(context.place) == ["/jwks"]
      # The next one is told at once.
      {us, status} = :timer.tc(fn -> status(port, Token.sign(key)) end)
      assert status == 503
      assert us < 1_000_000
    end
  end

  @doc false
  def two_issuers(key) do
    other = %{Token.key() | kid: "theirs"}
    :persistent_term.put({__MODULE__, :other}, other)
    [issuer(@issuer, [key]), issuer(@other, [other])]
  end

  defp other_key, do: :persistent_term.get({__MODULE__, :other})

  defp issuer(name, keys) when is_list(keys), do: issuer(name, {:static, Token.set(keys)})
  defp issuer(name, keys), do: [issuer: name, keys: keys]

  defp start(issuers) do
    oauth = [resource: "https://mcp.example.com/mcp", issuers: issuers, now_s: 1_800_000_000]
    options = Wire.options(__MODULE__, http: [authorize: {:oauth, oauth}])
    start_supervised!({BeamMCP, options}, id: __MODULE__)
  end

  defp status(port, token), do: call(port, token).status

  # Keys that do not come are waited for for ten seconds.
  defp patient_status(port, token) do
    socket = RawHTTP.connect(port)
    headers = [content_length: 0, authorization: "Bearer " <> token]
    :ok = RawHTTP.write(socket, "POST", "/mcp", headers)
    RawHTTP.read(socket, 20_000).status
  end

  defp call(port, token),
    do: RawHTTP.call(port, "whoami", "{}", headers: [authorization: "Bearer " <> token])

  # The status of a call with these header lines, byte for byte.
  defp raw(port, lines) do
    body = RawHTTP.body("tools/call", ~s("name":"whoami","arguments":{}))

    head =
      "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" <>
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n" <>
        "Mcp-Method: tools/call\r\nMcp-Name: whoami\r\nContent-Length: #{byte_size(body)}\r\n"

    socket = RawHTTP.connect(port)
    :ok = :gen_tcp.send(socket, [head, lines, "\r\n", body])
    status = RawHTTP.read(socket).status
    :gen_tcp.close(socket)
    status
  end
end
