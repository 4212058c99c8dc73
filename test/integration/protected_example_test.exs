defmodule BeamMCP.ProtectedExampleTest do
  # The way of an OAuth client through examples/protected, step by step; and what its issuer refuses, so that clients
  # which pass there have been asked for what others ask them.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias BeamMCP.Native
  alias BeamMCP.Test.{Docs, RawHTTP, Token}

  @moduletag :integration
  @moduletag :capture_log

  @redirect "http://127.0.0.1:1/callback"
  @verifier String.duplicate("v", 43)
  @basic "mcp:tools:read mcp:tools:call"

  setup_all do
    # The example names it among its own applications.
    if function_exported?(Mix, :ensure_application!, 1),
      do: for(app <- [:public_key, :ssl], do: apply(Mix, :ensure_application!, [app]))

    sources = Path.wildcard(Docs.path("examples/protected/lib/**/*.ex"))
    capture_io(:stderr, fn -> {:ok, _modules, _} = Kernel.ParallelCompiler.compile(sources) end)
    :ok
  end

  setup do
    start_supervised!(Protected.Notes)
    ahead = :counters.new(1, [])
    clock = fn -> System.os_time(:second) + :counters.get(ahead, 1) end
    started = %{id: :issuer, start: {Protected.Issuer, :start_link, [nil, clock]}}
    issuer = apply(Protected.Issuer, :get, [start_supervised!(started)])
    {:ok, port} = free_port()
    resource = "http://127.0.0.1:#{port}/mcp"
    start_supervised!(apply(Protected, :server, [resource, issuer.url, nil]))
    {:ok, port: port, resource: resource, issuer: URI.parse(issuer.url).port, ahead: ahead}
  end

  test "from nothing to a tool that needs one scope more", context do
    refused = RawHTTP.call(context.port, "whoami")
    assert refused.status == 401
    [bearer, _dpop] = RawHTTP.header_values(refused, "www-authenticate")
    [_all, metadata_url] = Regex.run(~r/resource_metadata="([^"]+)"/, bearer)

    metadata = json(RawHTTP.request(context.port, "GET", URI.parse(metadata_url).path))
    assert metadata["resource"] == context.resource
    assert metadata["scopes_supported"] == String.split(@basic)
    [server] = metadata["authorization_servers"]

    found =
      json(RawHTTP.request(context.issuer, "GET", "/.well-known/oauth-authorization-server"))

    assert found["issuer"] == server
    assert found["token_endpoint"] == server <> "/token"

    client = register(context)
    %{"code" => code, "iss" => ^server} = authorize(context, client)

    assert %{"token_type" => "Bearer", "scope" => @basic} =
             tokens = exchange(context, client, code)

    answered = call(context, "whoami", tokens)
    assert %{"user" => "alice", "client" => ^client} = structured(answered)

    challenged = call(context, "write_note", tokens)
    assert challenged.status == 403
    [challenge] = RawHTTP.header_values(challenged, "www-authenticate")
    [_all, scope] = Regex.run(~r/scope="([^"]+)"/, challenge)
    assert scope == "mcp:tools:call notes:write"

    %{"code" => code} = authorize(context, client, %{scope: "mcp:tools:read #{scope}"})
    tokens = exchange(context, client, code)
    assert call(context, "write_note", tokens).status == 200
    assert structured(call(context, "read_notes", tokens)) == %{"notes" => ["rye"]}
  end

  test "a tool that is hidden is answered like one that does not exist", context do
    tokens = sign_in(context, @basic)
    [hidden, unknown] = for name <- ~w(erase_notes no_such_thing), do: call(context, name, tokens)
    assert String.replace(hidden.body, "erase_notes", "no_such_thing") == unknown.body

    admin = sign_in(context, @basic <> " notes:admin")
    assert call(context, "erase_notes", admin).status == 200
  end

  test "a token that is bound to a key is good with a proof of that key", context do
    key = Token.key()
    client = register(context)
    %{"code" => code} = authorize(context, client)
    proof = proof(key, "POST", "http://127.0.0.1:#{context.issuer}/token")
    assert %{"token_type" => "DPoP"} = tokens = exchange(context, client, code, %{}, dpop: proof)
    token = tokens["access_token"]

    at_resource = &proof(&1, "POST", context.resource, %{ath: hash(token)})
    fresh = at_resource.(key)
    assert with_proof(context, token, fresh).status == 200
    assert with_proof(context, token, fresh).status == 401
    assert with_proof(context, token, at_resource.(Token.key())).status == 401
    assert call(context, "whoami", tokens).status == 401

    # At the issuer too a proof is good once, and for its own place.
    refresh =
      form(grant_type: "refresh_token", refresh_token: tokens["refresh_token"], client_id: client)

    assert error(post(context, "/token", refresh, dpop: proof)) == "invalid_dpop_proof"
    assert error(post(context, "/token", refresh, dpop: fresh)) == "invalid_dpop_proof"
    assert error(post(context, "/token", refresh, dpop: "a.b.c")) == "invalid_dpop_proof"
  end

  test "a code is good once, for its own client and with its verifier", context do
    client = register(context)
    code = fn -> authorize(context, client)["code"] end

    for changes <- [
          %{code_verifier: String.duplicate("w", 43)},
          %{redirect_uri: "http://127.0.0.1:2/callback"},
          %{client_id: register(context)},
          %{code: "none"}
        ] do
      assert exchange(context, client, code.(), changes)["error"] == "invalid_grant"
    end

    other = %{resource: "https://other.example.com/mcp"}
    assert exchange(context, client, code.(), other)["error"] == "invalid_target"
    spent = code.()
    assert exchange(context, client, spent)["access_token"]
    assert exchange(context, client, spent)["error"] == "invalid_grant"
  end

  test "a code is good for a minute", context do
    client = register(context)
    [in_time, late] = for _ <- 1..2, do: authorize(context, client)["code"]
    :counters.put(context.ahead, 1, 58)
    assert exchange(context, client, in_time)["access_token"]
    :counters.put(context.ahead, 1, 61)
    assert exchange(context, client, late)["error"] == "invalid_grant"
  end

  test "a refresh token is good once, and for no more than it was given for", context do
    tokens = sign_in(context, @basic)
    refresh = &form([grant_type: "refresh_token", client_id: tokens.client] ++ &1)
    again = &json(post(context, "/token", refresh.(&1)))

    renewed = again.(refresh_token: tokens["refresh_token"], scope: "mcp:tools:read")
    assert renewed["scope"] == "mcp:tools:read"
    assert again.(refresh_token: tokens["refresh_token"])["error"] == "invalid_grant"
    more = [refresh_token: renewed["refresh_token"], scope: @basic]
    assert again.(more)["error"] == "invalid_grant"
  end

  test "nobody is sent to a place that was not registered", context do
    client = register(context)

    for changes <- [%{redirect_uri: "https://evil.example.com/"}, %{client_id: "none"}] do
      response = ask(context, client, changes)
      assert response.status == 400
      assert RawHTTP.header_values(response, "location") == []
    end

    for uri <- ["http://evil.example.com/", "javascript:alert(1)", "https:///x", "https://a/#b"] do
      response = post(context, "/register", ~s({"redirect_uris":["#{uri}"]}))
      assert error(response) == "invalid_redirect_uri"
    end
  end

  test "a request without a challenge or a resource gets no code", context do
    client = register(context)

    for {changes, error} <- [
          {%{code_challenge_method: "plain"}, "invalid_request"},
          {%{code_challenge: "short"}, "invalid_request"},
          {%{resource: "no URL"}, "invalid_target"},
          {%{response_type: "token"}, "unsupported_response_type"}
        ] do
      assert %{"error" => ^error, "state" => "s t"} = authorize(context, client, changes)
    end
  end

  defp sign_in(context, scope) do
    client = register(context)
    %{"code" => code} = authorize(context, client, %{scope: scope})
    Map.put(exchange(context, client, code), :client, client)
  end

  defp register(context),
    do: json(post(context, "/register", ~s({"redirect_uris":["#{@redirect}"]})))["client_id"]

  # The parameters with which the issuer sends the user back.
  defp authorize(context, client, changes \\ %{}) do
    response = ask(context, client, changes)
    assert response.status == 302
    [location] = RawHTTP.header_values(response, "location")
    assert String.starts_with?(location, @redirect <> "?")
    URI.decode_query(URI.parse(location).query)
  end

  defp ask(context, client, changes) do
    asked = %{
      response_type: "code",
      client_id: client,
      redirect_uri: @redirect,
      scope: @basic,
      state: "s t",
      code_challenge: hash(@verifier),
      code_challenge_method: "S256",
      resource: context.resource
    }

    RawHTTP.request(context.issuer, "GET", "/authorize?" <> form(Map.merge(asked, changes)))
  end

  defp exchange(context, client, code, changes \\ %{}, headers \\ []) do
    asked = %{
      grant_type: "authorization_code",
      code: code,
      client_id: client,
      redirect_uri: @redirect,
      code_verifier: @verifier,
      resource: context.resource
    }

    json(post(context, "/token", form(Map.merge(asked, changes)), headers))
  end

  defp post(context, path, body, headers \\ []) do
    headers = [content_length: byte_size(body)] ++ headers
    RawHTTP.request(context.issuer, "POST", path, headers, body)
  end

  defp call(context, tool, tokens) do
    arguments = if tool == "write_note", do: ~s({"text":"rye"}), else: "{}"
    headers = [authorization: "Bearer " <> tokens["access_token"]]
    RawHTTP.call(context.port, tool, arguments, headers: headers)
  end

  defp with_proof(context, token, proof) do
    headers = [authorization: "DPoP " <> token, dpop: proof]
    RawHTTP.call(context.port, "whoami", "{}", headers: headers)
  end

  defp proof(key, method, url, claims \\ %{}) do
    jti = Base.encode16(:crypto.strong_rand_bytes(8))
    claims = Map.merge(%{htm: method, htu: url, iat: System.os_time(:second), jti: jti}, claims)
    Token.sign(key, claims, %{typ: "dpop+jwt", jwk: Map.delete(Token.jwk(key), :kid)})
  end

  defp hash(text), do: Base.url_encode64(:crypto.hash(:sha256, text), padding: false)

  defp form(parameters), do: URI.encode_query(parameters)

  defp error(response) do
    assert response.status == 400
    json(response)["error"]
  end

  defp structured(response) do
    assert response.status == 200
    json(response)["result"]["structuredContent"]
  end

  defp json(response) do
    {:ok, value} = Native.decode(response.body)
    value
  end

  defp free_port do
    {:ok, socket} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, port} = :inet.port(socket)
    :ok = :gen_tcp.close(socket)
    {:ok, port}
  end
end
