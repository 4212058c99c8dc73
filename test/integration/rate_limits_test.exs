defmodule BeamMCP.RateLimitsTest do
  # How often one caller may ask, and what the others notice of one that asks too often.
  use ExUnit.Case, async: false

  alias BeamMCP.Test
  alias BeamMCP.Test.{EventStream, RawHTTP, Wire}

  @moduletag :integration

  @fixtures Path.expand("../fixtures/auth", __DIR__)

  test "a caller over its rate is answered 429 with the id and when to come back" do
    port = serve(rate_limits: [calls: {2, 60_000}])
    for _ <- 1..2, do: assert(call(port).status == 200)
    response = RawHTTP.call(port, "whoami", "{}", id: ~s("seven"))
    assert response.status == 429
    assert [seconds] = RawHTTP.header_values(response, "retry-after")
    assert String.to_integer(seconds) in 28..30
    {:ok, %{"id" => "seven", "error" => error}} = BeamMCP.Native.decode(response.body)
    assert error["code"] == -31_429
    assert error["message"] =~ "rate_limits.calls (2 in 60000 ms)"
    assert RawHTTP.modern(port, "tools/list").status == 200
  end

  test "a principal has one rate on all connections, and takes nothing from another" do
    port = serve(rate_limits: [calls: {5, 60_000}], http: [authorize: &__MODULE__.name/1])

    statuses =
      1..50
      |> Task.async_stream(fn _call -> call(port, x_name: "greedy").status end,
        max_concurrency: 50,
        timeout: 30_000
      )
      |> Enum.frequencies_by(fn {:ok, status} -> status end)

    assert statuses == %{200 => 5, 429 => 45}
    for _ <- 1..5, do: assert(call(port, x_name: "ann").status == 200)
    assert call(port, x_name: "ann").status == 429
  end

  test "behind a proxy callers without a name are told apart by address" do
    http = [trusted_proxies: ["127.0.0.1"]]
    port = serve(rate_limits: [calls: {1, 60_000}], http: http)
    assert call(port, x_forwarded_for: "192.0.2.1").status == 200
    assert call(port, x_forwarded_for: "192.0.2.2").status == 200
    assert call(port, x_forwarded_for: "192.0.2.1").status == 429
  end

  test "subscriptions have a rate of their own" do
    port = serve(rate_limits: [subscriptions: {1, 60_000}])
    listen = ~s("notifications":{"toolsListChanged":true})
    {_stream, _honoured} = EventStream.listen(port, %{toolsListChanged: true})
    assert RawHTTP.modern(port, "subscriptions/listen", listen).status == 429
    assert call(port).status == 200
  end

  test "a pipe is told by the error alone" do
    port = serve(rate_limits: [calls: {1, 60_000}])
    client = Test.connect!(__MODULE__)
    assert {:ok, _result} = Test.call_tool(client, :whoami, %{})
    assert {:error, %{code: -31_429, data: nil}} = Test.call_tool(client, :whoami, %{})
    other = Test.connect!(__MODULE__, principal: :ann)
    assert {:ok, _result} = Test.call_tool(other, :whoami, %{})
    assert call(port).status == 200
  end

  test "calls in flight of one who shows an access token are bounded too" do
    jwks = File.read!(Path.join(@fixtures, "jwks.json"))
    issuer = [issuer: "https://auth.example.com", keys: {:static, jwks}]
    oauth = [resource: "https://mcp.example.com/mcp", issuers: [issuer], now_s: 1_800_000_000]
    port = serve(max_calls_per_principal: 2, http: [authorize: {:oauth, oauth}])
    headers = [authorization: "Bearer " <> token()]

    statuses =
      1..6
      |> Task.async_stream(
        fn _call -> RawHTTP.call(port, "sleep", ~s({"ms":500}), headers: headers).status end,
        max_concurrency: 6
      )
      |> Enum.frequencies_by(fn {:ok, status} -> status end)

    assert statuses == %{200 => 2, 429 => 4}
  end

  test "a rate that is none is refused at start" do
    for wrong <- [[calls: {0, 1}], [calls: 7], [calls: {1, 0}], [tools: {1, 1}], :none] do
      error =
        assert_raise ArgumentError, fn ->
          BeamMCP.Config.new!(name: :refused, rate_limits: wrong)
        end

      assert error.message =~ "option rate_limits: expected a keyword list of `{count, per_ms}`"
    end
  end

  @doc false
  def name(request) do
    {"x-name", name} = List.keyfind(request.headers, "x-name", 0)
    {:ok, name}
  end

  defp serve(options) do
    start_supervised!({BeamMCP, Wire.options(__MODULE__, options)}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp call(port, headers \\ []), do: RawHTTP.call(port, "whoami", "{}", headers: headers)

  defp token do
    {:ok, %{"cases" => [%{"id" => "at-valid-es256", "token" => token} | _]}} =
      @fixtures |> Path.join("access-tokens.json") |> File.read!() |> BeamMCP.Native.decode()

    token
  end
end
