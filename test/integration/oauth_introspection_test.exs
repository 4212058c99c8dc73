defmodule BeamMCP.OAuthIntrospectionTest do
  # An issuer on this machine that is asked about tokens: how, how often, and what its answers lead to.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  import ExUnit.CaptureLog

  alias BeamMCP.Test.{Issuer, RawHTTP, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @now 1_800_000_000
  @path "/introspect"
  @secret "a secret: 100% & more"
  @active %{
    "active" => true,
    "iss" => "https://auth.example.com",
    "aud" => "https://mcp.example.com/mcp",
    "sub" => "user-1",
    "client_id" => "client-1",
    "scope" => "mcp:tools:call",
    "exp" => @now + 600
  }

  setup do
    {:ok, issuer: start_supervised!({Issuer, %{@path => json(@active)}})}
  end

  test "an active token names its caller, and is asked about once by a form with credentials",
       context do
    test = self()

    Issuer.put(context.issuer, @path, fn request ->
      send(test, {:asked, request})
      json(@active)
    end)

    port = serve(context)
    for _ <- 1..5, do: assert(call(port, "opaque+token/1==").status == 200)
    assert_received {:asked, request}
    refute_received {:asked, _again}

    {:ok, %{"result" => result}} = BeamMCP.Native.decode(call(port, "opaque+token/1==").body)
    assert %{"principal" => principal, "sender" => "bearer"} = result["structuredContent"]
    assert principal == ~s({"https://auth.example.com", "user-1", "client-1"})

    [head, body] = String.split(request, "\r\n\r\n")
    assert head =~ "POST /introspect HTTP/1.1\r\n"
    assert head =~ "content-type: application/x-www-form-urlencoded"
    encoded = Base.encode64("beam%20mcp:a%20secret%3A%20100%25%20%26%20more")
    assert head =~ "authorization: Basic #{encoded}"
    assert body == "token=opaque%2Btoken%2F1%3D%3D&token_type_hint=access_token"
  end

  test "what is not active, or not for here, is 401", context do
    for {answer, index} <-
          Enum.with_index([
            %{"active" => false},
            %{@active | "iss" => "https://other.example"},
            %{@active | "aud" => "https://mcp.example.com/"},
            %{@active | "exp" => @now - 31},
            Map.delete(@active, "exp"),
            Map.delete(@active, "sub"),
            Map.put(@active, "token_type", "N_A")
          ]) do
      Issuer.put(context.issuer, @path, json(answer))
      port = serve(context)
      response = call(port, "token-#{index}")
      assert response.status == 401, inspect(answer)
      assert [challenge | _dpop] = RawHTTP.header_values(response, "www-authenticate")
      assert challenge =~ ~s(error="invalid_token")
      stop_supervised!(__MODULE__)
    end
  end

  test "a token without an end is the host's choice", context do
    Issuer.put(context.issuer, @path, json(Map.delete(@active, "exp")))
    port = serve(context, allow_unbounded_introspection: true)
    assert call(port, "endless").status == 200
  end

  test "a refusal is kept for a while, and an issuer that fails is asked again", context do
    Issuer.put(context.issuer, @path, json(%{"active" => false}))
    port = serve(context)
    for _ <- 1..20, do: assert(call(port, "dead").status == 401)
    assert length(Issuer.asked(context.issuer)) == 1

    Issuer.put(context.issuer, @path, {500, [], ""})
    for _ <- 1..3, do: assert(call(port, "other").status == 503)
    assert length(Issuer.asked(context.issuer)) == 4
    Issuer.put(context.issuer, @path, json(@active))
    assert call(port, "other").status == 200
  end

  test "503 without a challenge where it cannot be asked or says nothing", context do
    for answer <- [
          {401, [], ""},
          {302, [location: @path], ""},
          {200, [], "no json"},
          {200, [], ~s({"active":"true"})},
          {200, [], ~s({"active":true,"active":true})},
          {200, [], String.duplicate(" ", 70_000)}
        ] do
      Issuer.put(context.issuer, @path, answer)
      port = serve(context)

      log =
        capture_log(fn ->
          response = call(port, "token-of-nobody")
          assert response.status == 503, inspect(answer)
          assert RawHTTP.header_values(response, "retry-after") == ["5"]
          assert RawHTTP.header_values(response, "www-authenticate") == []
        end)

      assert log =~ "https://auth.example.com cannot be asked about tokens: "
      refute log =~ "token-of-nobody"
      stop_supervised!(__MODULE__)
    end
  end

  test "many requests with one token are one question", context do
    Issuer.put(context.issuer, @path, fn _request ->
      Process.sleep(300)
      json(@active)
    end)

    port = serve(context)
    assert statuses(1..100, fn _copy -> call(port, "popular").status end) == %{200 => 100}
    assert length(Issuer.asked(context.issuer)) == 1
  end

  test "a flood of tokens leaves a hundred questions, and the rest 503 at once", context do
    Issuer.put(context.issuer, @path, :hang)
    port = serve(context)

    statuses =
      statuses(1..150, fn number ->
        {us, response} = :timer.tc(fn -> call(port, "flood-#{number}") end)
        {response.status, us > 4_000_000}
      end)

    assert statuses == %{{503, true} => 100, {503, false} => 50}
    assert length(Issuer.asked(context.issuer)) == 100
  end

  test "a proof is checked before the issuer is asked", context do
    port = serve(context)
    headers = [authorization: "DPoP opaque", dpop: "a.b.c"]
    assert RawHTTP.call(port, "whoami", "{}", headers: headers).status == 401
    assert Issuer.asked(context.issuer) == []
  end

  test "a secret may come from a function, and is shown nowhere", context do
    keys = {:introspect, Issuer.url(context.issuer, @path), credentials(fn -> @secret end)}
    oauth = BeamMCP.OAuth.new!(oauth(keys), "", %{secrets: nil, alone?: true})
    refute inspect(oauth, structs: false, limit: :infinity) =~ @secret
    port = serve(context)
    assert call(port, "opaque").status == 200
    [listener] = BeamMCP.Instance.fetch!(__MODULE__).config.http
    refute inspect(listener, structs: false, limit: :infinity) =~ @secret

    for {options, place} <- [
          {[client_id: 7, client_secret: @secret], "authorize.issuers[0].keys.client_id"},
          {[client_secret: @secret], "authorize.issuers[0].keys.client_id is required"},
          {[client_id: "a", client_secret: [@secret]],
           "authorize.issuers[0].keys.client_secret: expected a string, or a function"},
          {[client_id: "a", client_secret: @secret, more: 1], "authorize.issuers[0].keys.more"}
        ] do
      error = refused(authorize: {:oauth, oauth({:introspect, "https://a.example", options})})
      assert error =~ place
      refute error =~ @secret
    end

    for wrong <- [
          [issuers: [keys: {:introspect, "https://a.example", credentials(@secret)}]],
          [issuers: [[issuer: "x", keys: {:introspect, "ftp://a", credentials(@secret)}]]]
        ] do
      error = refused(authorize: {:oauth, Keyword.merge(oauth(nil), wrong)})
      assert error =~ "authorize.issuers"
      refute error =~ @secret
    end
  end

  test "a crash is reported without token or secret", context do
    Issuer.put(context.issuer, @path, :hang)
    port = serve(context)
    waiting = Task.async(fn -> call(port, "token-that-waits").status end)
    role = {__MODULE__, {BeamMCP.OAuth.Introspection, 0}}
    [{pid, _value}] = Registry.lookup(BeamMCP.Registry, role)
    wait_until(fn -> map_size(:sys.get_state(pid).asked) == 1 end)

    log =
      capture_log(fn ->
        send(pid, :nonsense)
        assert Task.await(waiting, 10_000) == 503
      end)

    assert log =~ "terminating" and log =~ "nonsense"
    for secret <- [@secret, "token-that-waits"], do: refute(log =~ secret)
    spec = BeamMCP.child_spec(http: [authorize: {:oauth, oauth(keys(context))}])
    refute inspect(spec, limit: :infinity) =~ @secret
  end

  test "of several issuers one may be asked" do
    keys = {:introspect, "https://a.example", credentials(@secret)}
    issuers = for name <- ["a", "b"], do: [issuer: "https://#{name}.example", keys: keys]
    error = refused(authorize: {:oauth, Keyword.put(oauth(keys), :issuers, issuers)})
    assert error =~ "an opaque token does not say whose it is"
  end

  defp refused(listener) do
    error =
      assert_raise ArgumentError, fn ->
        BeamMCP.Config.new!(name: :refused, http: listener ++ [allowed_origins: []])
      end

    error.message
  end

  defp statuses(range, status) do
    range
    |> Task.async_stream(status, max_concurrency: 200, timeout: 30_000)
    |> Enum.frequencies_by(fn {:ok, status} -> status end)
  end

  defp keys(context, more \\ []),
    do: {:introspect, Issuer.url(context.issuer, @path), credentials(@secret) ++ more}

  defp serve(context, more \\ []) do
    listener = [authorize: {:oauth, oauth(keys(context, more))}]
    options = Wire.options(__MODULE__, http: listener)
    start_supervised!({BeamMCP, options}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp credentials(secret), do: [client_id: "beam mcp", client_secret: secret]

  defp oauth(keys) do
    issuer = [issuer: "https://auth.example.com", keys: keys]
    [resource: "https://mcp.example.com/mcp", issuers: [issuer], now_s: @now]
  end

  defp call(port, token) do
    RawHTTP.call(port, "whoami", "{}", headers: [authorization: "Bearer " <> token])
  end

  defp json(map) do
    {:ok, json} = BeamMCP.Native.encode(map)
    {200, [], json}
  end
end
