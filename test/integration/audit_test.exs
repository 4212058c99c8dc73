Code.require_file("support/message.exs", __DIR__)

defmodule BeamMCP.AuditTest.Wire do
  # What operators learn of decisions over a socket, and what nobody learns.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message, only: [initialize: 1]
  import ExUnit.CaptureLog

  alias BeamMCP.{AuditLog, Decision, TokenFacts, ToolSpec}
  alias BeamMCP.Test.{Issuer, RawHTTP, Wire}

  @moduletag :integration

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @issuer "https://auth.example.com"

  setup do
    test = self()

    :telemetry.attach(fn event, measurements, metadata ->
      send(test, {event, measurements, metadata})
    end)

    on_exit(&:telemetry.detach/0)
  end

  test "a caller that is let in is told twice: who, and for what" do
    port = serve([])
    assert call(port, token("at-valid-es256")).status == 200
    assert_receive {:decided, %Decision{stage: :sender} = sender}, 1_000
    assert_receive {:decided, %Decision{stage: :operation} = operation}, 1_000
    assert %{outcome: :permit, reason: nil, issuer: @issuer, binding: :bearer} = sender
    assert sender.client == short("https://client.example.net/oauth/client.json")
    facts = {@issuer, "user-7f3a", "https://client.example.net/oauth/client.json"}
    assert sender.principal == short(binding_key(facts))

    assert sender.instance == __MODULE__ and
             abs(sender.at_ms - System.system_time(:millisecond)) < 60_000

    assert is_integer(sender.duration_us)

    assert %{outcome: :permit, method: "tools/call", wanted: ["mcp:tools:call"], missing: []} =
             operation

    assert {operation.held, operation.principal} == {2, sender.principal}

    assert_receive {[:beam_mcp, :auth, :stop], %{duration: duration}, metadata}
    assert duration >= 0

    assert metadata == %{
             instance: __MODULE__,
             outcome: :permit,
             reason: nil,
             issuer: @issuer,
             binding: :bearer,
             principal: sender.principal,
             client: sender.client
           }

    refute_received {[:beam_mcp, :auth, :denied], _measurements, _metadata}
  end

  test "a refused sender is told with the reason that its answer hides" do
    port = serve(revocation: fn _facts -> :revoked end)

    for {token, reason, issuer} <- [
          {"x", "malformed_token", nil},
          {token("at-expired"), "expired", nil},
          {token("at-valid-es256"), "revoked", @issuer},
          {nil, "no_credentials", nil}
        ] do
      assert call(port, token).status == 401
      assert_receive {:decided, %Decision{stage: :sender} = decision}, 1_000
      assert {decision.outcome, decision.reason, decision.issuer} == {:deny, reason, issuer}

      assert_receive {[:beam_mcp, :auth, :stop], _measurements,
                      %{outcome: :deny, reason: ^reason}}
    end
  end

  test "a refused operation is told with what it wanted and lacked" do
    port = serve([], scope_map: %{"tools/call" => ["mcp:tools:call", "app.write"]})
    assert call(port, token("at-valid-es256")).status == 403
    assert_receive {:decided, %Decision{stage: :operation} = decision}, 1_000
    assert %{outcome: :deny, reason: "insufficient_scope", denial: :challenge} = decision
    assert {decision.wanted, decision.missing} == {["mcp:tools:call", "app.write"], ["app.write"]}

    assert_receive {[:beam_mcp, :auth, :denied], %{missing: 1, held: 2}, metadata}
    assert %{method: "tools/call", denial: :challenge, instance: __MODULE__} = metadata
    assert metadata.principal == decision.principal
  end

  test "what a caller is not to know of is told with its name, and what is not there without one" do
    test = self()

    hidden = %ToolSpec{name: "hidden", required_scopes: ["secret"], denial: :neutral}
    vetoed = %ToolSpec{name: "vetoed"}
    handler = fn _arguments -> {:ok, "never"} end

    port =
      start(
        registrations: for(spec <- [hidden, vetoed], do: {:tool, spec, handler}),
        authorize_definition: fn _context, definition ->
          send(test, {:asked, definition.name})
          definition.name != "vetoed"
        end,
        http: [authorize: fn _request -> {:ok, :ann, ["mcp:tools:call"]} end]
      )

    for {name, definition, missing} <- [
          {"hidden", "hidden", ["secret"]},
          {"vetoed", "vetoed", []},
          {"nothing", nil, []}
        ] do
      RawHTTP.call(port, name)
      assert_receive {:asked, ^name}, 1_000
      assert_receive {:decided, %Decision{stage: :operation} = decision}, 1_000
      assert %{outcome: :deny, reason: "hidden", denial: :neutral} = decision
      assert {decision.definition, decision.missing} == {definition, missing}
    end

    assert RawHTTP.call(port, "whoami").status == 200
    assert_receive {:decided, %Decision{stage: :operation, outcome: :permit} = decision}, 1_000
    assert {decision.definition, decision.denial} == {"whoami", nil}
  end

  test "a sign-in that does not suffice is told" do
    port = serve([], step_up: fn _context, _definition -> {:step_up, ["phr"], 60} end)
    assert call(port, token("at-valid-es256")).status == 401
    assert_receive {:decided, %Decision{stage: :operation} = decision}, 1_000
    assert %{outcome: :deny, reason: "step_up", denial: :challenge, missing: []} = decision
  end

  test "the handshake of an older client is told as a request of a newer one is" do
    port = serve([])
    authorization = "Bearer " <> token("at-valid-es256")

    assert RawHTTP.post(port, initialize(1), headers: [authorization: authorization]).status ==
             200

    assert_receive {:decided, %Decision{stage: :sender}}, 1_000
    assert_receive {:decided, %Decision{stage: :operation} = decision}, 1_000
    assert {decision.outcome, decision.method} == {:permit, "initialize"}
  end

  test "a caller over a limit is told, with and without a token" do
    port = serve([], rate_limits: [calls: {1, 60_000}])
    for status <- [200, 429], do: assert(call(port, token("at-valid-es256")).status == status)
    assert %{principal: <<_::binary-8>>, held: 2} = over_its_rate()

    assert_receive {[:beam_mcp, :auth, :denied], %{missing: 0, held: 2}, metadata}
    assert %{reason: "rate", denial: nil, method: "tools/call"} = metadata
    stop_supervised!(__MODULE__)

    port = start(rate_limits: [calls: {1, 60_000}], http: [authorize: :none])
    for status <- [200, 429], do: assert(call(port, nil).status == status)
    assert %{principal: nil, held: 0} = over_its_rate()
  end

  defp over_its_rate do
    assert_receive {:decided, %Decision{stage: :operation, outcome: :deny} = decision}, 1_000
    assert {decision.reason, decision.denial, decision.wanted} == {"rate", nil, []}
    assert {decision.method, decision.definition} == {"tools/call", "whoami"}
    decision
  end

  test "a hook's decisions are told too" do
    for {authorize, outcome, reason} <- [
          {fn _request -> {:ok, :ann} end, :permit, nil},
          {fn _request -> {:error, :no} end, :deny, "forbidden"},
          {fn _request -> {:error, {:unauthenticated, "Basic"}} end, :deny, "unauthenticated"}
        ] do
      port = start(http: [authorize: authorize])
      call(port, nil)
      assert_receive {:decided, %Decision{stage: :sender} = decision}, 1_000
      assert {decision.outcome, decision.reason} == {outcome, reason}
      assert decision.principal == if(outcome == :permit, do: short(:erlang.term_to_binary(:ann)))
      stop_supervised!(__MODULE__)
    end
  end

  @tag :capture_log
  test "keys that are fetched are told, and that they cannot be had" do
    issuer = start_supervised!({Issuer, %{"/jwks" => {500, [], ""}}})
    keys = {:jwks_uri, Issuer.url(issuer, "/jwks")}
    port = serve(issuers: [[issuer: @issuer, keys: keys]])
    name = __MODULE__
    none = %{instance: name, issuer: @issuer, outcome: :none}
    assert_receive {[:beam_mcp, :auth, :jwks], %{keys: 0}, ^none}, 2_000
    Issuer.put(issuer, "/jwks", {200, [], File.read!(Path.join(@fixtures, "jwks.json"))})
    [{keys, _value}] = Registry.lookup(BeamMCP.Registry, {name, {BeamMCP.OAuth.Keys, 0}})
    send(keys, {:fetch, 0})
    assert_receive {[:beam_mcp, :auth, :jwks], %{keys: count}, %{outcome: :fetched}}, 2_000
    assert count > 1
    assert call(port, token("at-valid-es256")).status == 200
  end

  test "no token, proof or claim is in any log, event or decision" do
    {cases, proofs} = {load("access-tokens.json"), load("dpop.json")}
    test = self()

    log =
      capture_log(fn ->
        port =
          serve(
            [
              auth_failures_per_minute: 1_000_000,
              revocation: fn %TokenFacts{} = facts ->
                if facts.jti == "at-revoked", do: raise(inspect(facts)), else: :active
              end
            ],
            audit: fn decision ->
              send(test, {:decided, decision})
              AuditLog.log(decision)
            end
          )

        for one <- cases, token = one["token"], do: call(port, token)

        for %{"request" => %{"method" => "POST"} = request} <- proofs do
          headers =
            [authorization: request["authorization"]] ++
              for(proof <- request["dpop"], do: {:dpop, proof})

          RawHTTP.call(port, "raise", "{}", headers: headers)
        end

        stop_supervised!(__MODULE__)
      end)

    assert log =~ "permit sender" and log =~ "deny sender reason=expired"
    shown = log <> inspect(mailbox(), limit: :infinity, printable_limit: :infinity)
    assert shown =~ "dpop_replay" or shown =~ "dpop_signature"

    for secret <- secrets(cases, proofs) do
      refute shown =~ secret, "#{String.slice(secret, 0, 20)}.. is shown"
    end
  end

  # Payloads and signatures; headers of tokens are public words that other texts may have too.
  defp secrets(cases, proofs) do
    tokens = for one <- cases, token = one["token"], do: token

    shown =
      for %{"request" => request} <- proofs do
        [_scheme | token] = String.split(request["authorization"] || "", " ", parts: 2)
        token ++ request["dpop"]
      end

    (tokens ++ List.flatten(shown))
    |> Enum.flat_map(&(&1 |> String.split(".") |> Enum.drop(1)))
    |> Enum.filter(&(byte_size(&1) > 20))
    |> Enum.uniq()
  end

  defp mailbox do
    receive do
      message -> [message | mailbox()]
    after
      100 -> []
    end
  end

  defp serve(oauth, options \\ []) do
    jwks = File.read!(Path.join(@fixtures, "jwks.json"))
    issuer = [issuer: @issuer, keys: {:static, jwks}]
    base = [resource: "https://mcp.example.com/mcp", issuers: [issuer], now_s: 1_800_000_000]
    start([http: [authorize: {:oauth, Keyword.merge(base, oauth)}]] ++ options)
  end

  defp start(options) do
    test = self()
    audit = [audit: fn decision -> send(test, {:decided, decision}) end]
    options = Wire.options(__MODULE__, Keyword.merge(audit, options))
    start_supervised!({BeamMCP, options}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp call(port, token) do
    headers = [authorization: token && "Bearer " <> token]
    RawHTTP.call(port, "whoami", "{}", headers: headers)
  end

  defp token(id), do: Enum.find(load("access-tokens.json"), &(&1["id"] == id))["token"]

  defp load(file) do
    {:ok, %{"cases" => cases}} =
      @fixtures |> Path.join(file) |> File.read!() |> BeamMCP.Native.decode()

    cases
  end

  defp binding_key({issuer, subject, client}) do
    parts = for part <- [issuer, subject, client], do: [<<byte_size(part)::64>>, part]
    :crypto.hash(:sha256, [parts, <<-1::64>>])
  end

  defp short(binary) do
    <<first::binary-4, _rest::binary>> = :crypto.hash(:sha256, binary)
    Base.encode16(first, case: :lower)
  end
end
