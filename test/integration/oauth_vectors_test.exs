defmodule BeamMCP.OAuthVectorsTest do
  # The recorded decisions of test/fixtures/auth over a socket, with the clock of the fixture:
  # status, challenges and body as a client sees them.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{RawHTTP, Wire}
  alias BeamMCP.ToolSpec

  @moduletag :integration
  @moduletag :capture_log

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @base "config.json" |> then(&Path.join(@fixtures, &1)) |> File.read!()
  @resource "https://mcp.example.com/mcp"
  @metadata ~s(resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp")

  # What only a fetch of keys can lead to.
  @fetching ~w(at-valid-rotated at-jwks-down)

  test "every access token is answered as recorded" do
    cases = load("access-tokens.json")["cases"]
    assert length(cases) == 99

    for {settings, cases} <- Enum.group_by(cases, &{&1["config"], &1["jwks"]}),
        cases = Enum.reject(cases, &(&1["id"] in @fetching)),
        cases != [] do
      {config, jwks} = settings
      port = start(config, jwks)
      for one <- cases, do: check(one, bearer(port, one["token"]))
      stop_supervised!(__MODULE__)
    end
  end

  test "every proof is answered as recorded" do
    cases = load("dpop.json")["cases"]
    assert length(cases) == 60

    for {config, cases} <- Enum.group_by(cases, & &1["config"]), one <- cases do
      port = start(config, "jwks.json")
      for key <- one["already_seen"] || [], do: remember(key)
      check(one, send_request(port, one["request"]))
      stop_supervised!(__MODULE__)
    end
  end

  test "a proof that was accepted is refused the next time" do
    [one | _rest] = load("dpop.json")["cases"]
    port = start(nil, "jwks.json")
    assert send_request(port, one["request"]).status == 200
    again = send_request(port, one["request"])
    assert again.status == 401
    assert [challenge] = challenges(again)
    assert challenge =~ ~s(DPoP error="invalid_dpop_proof")
  end

  test "of a hundred copies of one proof one is accepted" do
    [one | _rest] = load("dpop.json")["cases"]
    port = start(nil, "jwks.json")

    statuses =
      1..100
      |> Task.async_stream(fn _copy -> send_request(port, one["request"]).status end,
        max_concurrency: 100,
        timeout: 30_000
      )
      |> Enum.frequencies_by(fn {:ok, status} -> status end)

    assert statuses == %{200 => 1, 401 => 99}
  end

  test "challenges are as recorded" do
    recorded = load("challenges.json")["cases"]
    lines = Map.new(recorded, &{&1["id"], &1["www_authenticate"]})
    expired = token("at-expired")

    for {id, config, request} <- [
          {"anonymous", %{"dpop" => "off"}, &anonymous(&1, "tools/list")},
          {"anonymous-dpop-optional", %{}, &anonymous(&1, "tools/list")},
          {"anonymous-dpop-required", %{"dpop" => "required"}, &anonymous(&1, "tools/list")},
          {"invalid-bearer", %{"dpop" => "off"}, &bearer(&1, expired)},
          {"bound-as-bearer", %{}, &proof(&1, "dpop-bound-as-bearer")},
          {"invalid-proof", %{}, &proof(&1, "dpop-sig-other-key")},
          {"nonce", %{"dpop_nonce" => "required"}, &proof(&1, "dpop-nonce-missing")}
        ] do
      response = request.(start(config, "jwks.json"))
      assert response.status == 401
      assert challenges(response) == lines[id], id
      assert RawHTTP.header_values(response, "cache-control") == ["no-store"]
      assert RawHTTP.header_values(response, "vary") == ["Authorization, DPoP, Origin"]

      assert response.body ==
               ~s({"jsonrpc":"2.0","error":{"code":-31401,"message":"Unauthorized"}})

      stop_supervised!(__MODULE__)
    end
  end

  test "what is answered to a right token is as recorded" do
    down = [keys: {:jwks_uri, "http://127.0.0.1:1/jwks"}]

    for {id, config, options, request} <- [
          {"insufficient-scope", %{"dpop" => "off"}, [],
           &bearer(&1, token("at-valid-es256"), "read")},
          {"insufficient-scope-dpop", %{},
           [scope_policy: %{"tools/call" => :selected_definition}],
           &proof(&1, "dpop-valid-es256", "read")},
          {"mount-denied", %{}, [oauth: [authorize_mount: fn _who, _what -> :deny end]],
           &bearer(&1, token("at-valid-es256"))},
          {"key-source-down", %{}, [issuer: down], &bearer(&1, token("at-valid-es256"))}
        ] do
      expected = Enum.find(load("challenges.json")["cases"], &(&1["id"] == id))
      response = request.(start(config, "jwks.json", options))
      assert response.status == expected["status"], id
      assert challenges(response) == expected["www_authenticate"], id
      assert RawHTTP.header_values(response, "cache-control") == ["no-store"]

      for {name, value} <- expected["other_headers"] || %{},
          do: assert(RawHTTP.header_values(response, String.downcase(name)) == [value])

      stop_supervised!(__MODULE__)
    end
  end

  # That there is no such session is what a GET hears whose credentials are right.
  defp check(%{"request" => %{"method" => "GET"}} = one, response) do
    assert one["expect"]["outcome"] == "accept"
    assert response.status == 404
  end

  defp check(%{"expect" => %{"outcome" => "accept", "scopes" => scopes}} = one, response) do
    # Without this scope the token is right and does not suffice.
    if "mcp:tools:call" in scopes do
      check_caller(one, response)
    else
      assert response.status == 403
      assert [challenge] = challenges(response)
      assert challenge =~ ~s(error="insufficient_scope")
      assert challenge =~ ~s(scope="mcp:tools:call")
    end
  end

  defp check(%{"expect" => %{"outcome" => "accept"}} = one, response),
    do: check_caller(one, response)

  defp check(%{"id" => id, "expect" => %{"http" => http} = expected}, response) do
    assert response.status == http["status"], "#{id}: #{inspect(response)}"
    challenges = challenges(response)
    assert challenges == [] == (expected["challenge"] == false), id

    if http["error"] do
      for challenge <- challenges, do: assert(challenge =~ ~s(error="#{http["error"]}"), id)
    else
      for challenge <- challenges, do: refute(challenge =~ "error=", id)
    end

    if http["scheme"] do
      assert [challenge] = challenges
      assert String.starts_with?(challenge, http["scheme"] <> " "), id
    end

    for challenge <- challenges do
      assert challenge =~ @metadata, id
      # Which check failed stays here; that a nonce is wanted does not.
      refute challenge =~ ~r/\b#{expected["reason"]}\b/, id
    end

    nonce? = RawHTTP.header_values(response, "dpop-nonce") != []
    assert nonce? == Map.get(expected, "dpop_nonce_header", false), id
  end

  defp check_caller(%{"id" => id, "expect" => expected}, response) do
    assert response.status == 200, "#{id}: #{inspect(response)}"
    {:ok, %{"result" => result}} = BeamMCP.Native.decode(response.body)
    caller = result["structuredContent"]

    if expected["sub"] do
      assert caller["principal"] =~ inspect(expected["sub"]), id
      assert caller["scopes"] == expected["scopes"], id
    end

    if expected["binding"] do
      assert caller["sender"] == expected["binding"], id
    end
  end

  defp challenges(response), do: RawHTTP.header_values(response, "www-authenticate")

  defp start(config, jwks, more \\ []) do
    {oauth, more} = Keyword.pop(more, :oauth, [])
    {issuer, more} = Keyword.pop(more, :issuer, [])
    values = Map.merge(decode(@base), config || %{})
    oauth = Keyword.merge(options(values, jwks, issuer), oauth)
    read = %ToolSpec{name: "read", required_scopes: ["documents.read"], denial: :challenge}
    registrations = [{:tool, read, fn _arguments -> {:ok, "read"} end}]
    own = [registrations: registrations, http: [authorize: {:oauth, oauth}]]
    options = Wire.options(__MODULE__, own ++ more)
    start_supervised!({BeamMCP, options}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp options(values, jwks, issuer) do
    issuer =
      Keyword.merge(
        [
          issuer: values["issuer"],
          keys: {:static, File.read!(Path.join(@fixtures, jwks))},
          algs: values["algs"],
          client_id_claims: values["client_id_claims"],
          scope_claims: values["scope_claims"]
        ],
        issuer
      )

    nonce_secret = load("dpop.json")["nonce"]["secret_b64u"]

    [
      resource: values["resource"],
      issuers: [issuer],
      audiences: values["audiences"],
      aud_mode: String.to_existing_atom(values["aud_mode"]),
      accept_typ: values["accept_typ"],
      leeway_s: values["leeway_s"],
      max_token_age_s: values["max_token_age_s"],
      required_claims: values["required_claims"],
      max_token_bytes: values["max_token_bytes"],
      dpop: String.to_existing_atom(values["dpop"]),
      dpop_algs: values["dpop_algs"],
      dpop_nonce: String.to_existing_atom(values["dpop_nonce"]),
      dpop_nonce_secrets: [Base.url_decode64!(nonce_secret, padding: false)],
      now_s: values["now"],
      revocation: {__MODULE__, :revocation, [values]}
    ]
  end

  @doc false
  def revocation(facts, values) do
    if facts.jti in values["revocation_fails_for_jti"], do: raise("on purpose")
    if facts.jti in values["revoked_jti"], do: :revoked, else: :active
  end

  defp remember(key), do: :new = BeamMCP.ReplayStore.ETS.claim(__MODULE__, key, 91)

  defp bearer(port, token, tool \\ "whoami") do
    RawHTTP.call(port, tool, "{}", headers: [authorization: "Bearer " <> token])
  end

  defp anonymous(port, method), do: RawHTTP.modern(port, method)

  defp proof(port, id, tool \\ "whoami") do
    one = Enum.find(load("dpop.json")["cases"], &(&1["id"] == id))
    send_request(port, one["request"], tool)
  end

  defp send_request(port, request, tool \\ "whoami")

  defp send_request(port, %{"method" => "GET"} = request, _tool) do
    headers = [accept: "text/event-stream", mcp_session_id: "none"] ++ credentials(request)
    RawHTTP.request(port, "GET", target(request), headers)
  end

  defp send_request(port, request, tool) do
    options = [headers: credentials(request), path: target(request)]
    RawHTTP.call(port, tool, "{}", options)
  end

  defp credentials(request) do
    [authorization: request["authorization"]] ++ for(proof <- request["dpop"], do: {:dpop, proof})
  end

  defp target(request), do: String.replace_prefix(request["url"], "https://mcp.example.com", "")

  defp token(id) do
    Enum.find(load("access-tokens.json")["cases"], &(&1["id"] == id))["token"]
  end

  defp load(file), do: decode(File.read!(Path.join(@fixtures, file)))

  defp decode(json) do
    {:ok, value} = BeamMCP.Native.decode(json)
    value
  end

  test "the resource is that of the fixture" do
    assert decode(@base)["resource"] == @resource
  end
end
