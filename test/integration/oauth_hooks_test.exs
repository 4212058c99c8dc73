defmodule BeamMCP.OAuthHooksTest do
  # What the host says of a sender whose token is right, over a socket.
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias BeamMCP.{Request, TokenFacts}
  alias BeamMCP.Test.{RawHTTP, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @fixtures Path.expand("../fixtures/auth", __DIR__)

  test "revocation: revoked is 401, a raise or nonsense 503 without a challenge" do
    for {answer, status, challenges} <- [
          {fn -> :active end, 200, 0},
          {fn -> :revoked end, 401, 1},
          {fn -> raise "on purpose" end, 503, 0},
          {fn -> :nonsense end, 503, 0}
        ] do
      response = answered(revocation: fn %TokenFacts{} -> answer.() end)
      assert response.status == status
      assert length(RawHTTP.header_values(response, "www-authenticate")) == challenges
      if status == 503, do: assert(RawHTTP.header_values(response, "retry-after") == ["5"])
    end
  end

  test "load_principal: names the caller, or says that nobody knows it" do
    assert principal(load_principal: fn facts -> {:ok, {:user, facts.subject}} end) ==
             ~s({:user, "user-7f3a"})

    assert principal(load_principal: fn _facts -> {:ok, :ann, tenant: "t"} end) == ":ann"
    assert answered(load_principal: fn _facts -> :unknown end).status == 401
    assert answered(load_principal: fn _facts -> {:error, :down} end).status == 503
    assert answered(load_principal: fn _facts -> exit(:down) end).status == 503
  end

  test "authorize_mount: sees the principal and a head without credentials; else 403 and no challenge" do
    test = self()

    mount = fn principal, %Request{} = request ->
      send(test, {:mount, principal, request})
      :ok
    end

    assert answered(load_principal: fn _facts -> {:ok, :ann} end, authorize_mount: mount).status ==
             200

    assert_received {:mount, :ann, request}
    assert request.path == "/mcp"
    names = for {name, _value} <- request.headers, do: name
    assert "content-type" in names
    refute "authorization" in names

    for answer <- [fn -> :deny end, fn -> raise "on purpose" end, fn -> true end] do
      response = answered(authorize_mount: fn _principal, _request -> answer.() end)
      assert response.status == 403
      assert RawHTTP.header_values(response, "www-authenticate") == []
      assert response.body =~ "-31403"
    end
  end

  test "they are asked in order, and each only when the one before said yes" do
    test = self()

    hooks = [
      revocation: fn _facts -> tell(test, :revocation, :active) end,
      load_principal: fn _facts -> tell(test, :load_principal, :unknown) end,
      authorize_mount: fn _principal, _request -> tell(test, :authorize_mount, :ok) end
    ]

    assert answered(hooks).status == 401
    assert_received :revocation
    assert_received :load_principal
    refute_received :authorize_mount
  end

  test "no hook is asked for a token that is not right" do
    test = self()
    port = start(revocation: fn _facts -> tell(test, :asked, :active) end)
    assert call(port, "x.y.z").status == 401
    refute_received :asked
  end

  test "each is asked for each request, although the token is known" do
    test = self()
    port = start(revocation: fn _facts -> tell(test, :asked, :active) end)
    for _ <- 1..3, do: assert(call(port, token()).status == 200)
    for _ <- 1..3, do: assert_received(:asked)
  end

  test "nothing that is logged of a failing hook has the token in it" do
    log = capture_log(fn -> answered(revocation: fn facts -> raise inspect(facts) end) end)
    assert log =~ "revocation"
    for part <- String.split(token(), "."), do: refute(log =~ part)
  end

  defp tell(test, message, answer) do
    send(test, message)
    answer
  end

  defp answered(hooks) do
    response = call(start(hooks), token())
    stop_supervised!(__MODULE__)
    response
  end

  defp principal(hooks) do
    {:ok, %{"result" => result}} = BeamMCP.Native.decode(answered(hooks).body)
    result["structuredContent"]["principal"]
  end

  defp call(port, token) do
    RawHTTP.call(port, "whoami", "{}", headers: [authorization: "Bearer " <> token])
  end

  defp start(hooks) do
    jwks = File.read!(Path.join(@fixtures, "jwks.json"))
    issuer = [issuer: "https://auth.example.com", keys: {:static, jwks}]
    oauth = [resource: "https://mcp.example.com/mcp", issuers: [issuer], now_s: 1_800_000_000]
    options = Wire.options(__MODULE__, http: [authorize: {:oauth, oauth ++ hooks}])
    start_supervised!({BeamMCP, options}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp token do
    {:ok, %{"cases" => [%{"id" => "at-valid-es256", "token" => token} | _]}} =
      @fixtures |> Path.join("access-tokens.json") |> File.read!() |> BeamMCP.Native.decode()

    token
  end
end
