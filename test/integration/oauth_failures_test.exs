defmodule BeamMCP.OAuthFailuresTest do
  # How often one address may show credentials that are not right.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{RawHTTP, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @fixtures Path.expand("../fixtures/auth", __DIR__)

  test "over its budget an address is answered 429, whatever it shows" do
    port = serve(auth_failures_per_minute: 3)
    assert call(port, good()).status == 200
    for _ <- 1..3, do: assert(call(port, "Bearer x.y.z").status == 401)

    for authorization <- ["Bearer x.y.z", good(), nil] do
      response = call(port, authorization)
      assert response.status == 429
      assert [seconds] = RawHTTP.header_values(response, "retry-after")
      assert String.to_integer(seconds) in 18..20
      assert RawHTTP.header_values(response, "www-authenticate") == []
      assert RawHTTP.header_values(response, "cache-control") == ["no-store"]
      assert response.body =~ ~s("code":-31429)
    end
  end

  test "requests without credentials, and those that nobody could check, do not count" do
    port = serve(auth_failures_per_minute: 1, revocation: fn _facts -> raise "down" end)
    for _ <- 1..5, do: assert(call(port, nil).status == 401)
    for _ <- 1..5, do: assert(call(port, "Basic dTpw").status == 401)
    for _ <- 1..5, do: assert(call(port, good()).status == 503)
    assert call(port, "Bearer").status == 400
    assert call(port, nil).status == 429
  end

  test "the metadata is there for everybody" do
    port = serve(auth_failures_per_minute: 1)
    for _ <- 1..2, do: call(port, "Bearer x")
    path = "/.well-known/oauth-protected-resource"
    assert RawHTTP.request(port, "GET", path).status == 200
  end

  test "behind a trusted proxy each client has its own budget" do
    port = serve([auth_failures_per_minute: 1], trusted_proxies: ["127.0.0.0/8"])
    assert call(port, "Bearer x", x_forwarded_for: "192.0.2.1").status == 401
    assert call(port, good(), x_forwarded_for: "192.0.2.1").status == 429
    assert call(port, good(), x_forwarded_for: "192.0.2.2").status == 200
    assert call(port, good(), forwarded: "for=192.0.2.1").status == 429
    # Of IPv6 it is the network of 64 bits.
    assert call(port, "Bearer x", forwarded: ~s(for="[2001:db8::1]:80")).status == 401
    assert call(port, good(), forwarded: ~s(for="[2001:db8::2]")).status == 429
    assert call(port, good(), forwarded: ~s(for="[2001:db8:0:1::1]")).status == 200
    # What a client wrote itself stands further from us.
    assert call(port, good(), x_forwarded_for: "192.0.2.9, 192.0.2.1").status == 429
  end

  test "from anybody else these headers say nothing" do
    port = serve([auth_failures_per_minute: 1], trusted_proxies: ["192.0.2.0/24"])
    assert call(port, "Bearer x", x_forwarded_for: "192.0.2.1").status == 401
    assert call(port, good(), x_forwarded_for: "192.0.2.2").status == 429
  end

  test "a network that is none is refused at start" do
    for wrong <- [["10.0.0.0/33"], ["10.0.0.1/8"], ["proxy"], [:all]] do
      listener = [authorize: :none, trusted_proxies: wrong]
      options = Wire.options(__MODULE__, http: listener)
      error = assert_raise ArgumentError, fn -> BeamMCP.Config.new!(options) end
      assert error.message =~ "option http[0].trusted_proxies: "
    end
  end

  defp serve(oauth, listener \\ []) do
    jwks = File.read!(Path.join(@fixtures, "jwks.json"))
    issuer = [issuer: "https://auth.example.com", keys: {:static, jwks}]

    oauth =
      [resource: "https://mcp.example.com/mcp", issuers: [issuer], now_s: 1_800_000_000] ++ oauth

    options = Wire.options(__MODULE__, http: [authorize: {:oauth, oauth}] ++ listener)
    start_supervised!({BeamMCP, options}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp call(port, authorization, headers \\ []) do
    headers = [authorization: authorization] ++ headers
    RawHTTP.call(port, "whoami", "{}", headers: headers)
  end

  defp good do
    {:ok, %{"cases" => [%{"id" => "at-valid-es256", "token" => token} | _]}} =
      @fixtures |> Path.join("access-tokens.json") |> File.read!() |> BeamMCP.Native.decode()

    "Bearer " <> token
  end
end
