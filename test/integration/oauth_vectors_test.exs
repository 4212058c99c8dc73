defmodule BeamMCP.OAuthVectorsTest do
  # The recorded decisions of test/fixtures/auth over a socket, with the clock of the fixture:
  # status, challenges and body as a client sees them.
  use ExUnit.Case, async: false

  alias BeamMCP.OAuth.Keys
  alias BeamMCP.Test.{Issuer, RawHTTP, Vectors, Wire}
  alias BeamMCP.ToolSpec

  @moduletag :integration
  @moduletag :capture_log

  @metadata ~s(resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp")

  # Within this time nobody asks an issuer again for a key that was not there.
  @pause_ms 30_000

  test "237 checks are recorded" do
    counts = Vectors.counts()

    assert counts == %{
             "access-tokens.json" => 99,
             "dpop.json" => 60,
             "mtls.json" => 9,
             "scopes.json" => 40,
             "challenges.json" => 12,
             "metadata.json" => 17
           }

    assert counts |> Map.values() |> Enum.sum() == 237
  end

  test "every access token is answered as recorded" do
    {fetching, others} = Enum.split_with(Vectors.all("access-tokens.json"), &fetching?/1)

    for {{config, jwks}, cases} <- Enum.group_by(others, &{&1["config"], &1["jwks"]}) do
      port = start(config, jwks)
      for one <- cases, do: check(one, bearer(port, one["token"]))
      stop_supervised!(__MODULE__)
    end

    for one <- fetching, do: refetch(one)
    assert Enum.map(fetching, & &1["id"]) == ~w(at-valid-rotated at-kid-unknown at-jwks-down)
    assert Vectors.driven?(fetching ++ others, "access-tokens.json")
  end

  test "every proof is answered as recorded" do
    cases = Vectors.all("dpop.json")

    for one <- cases do
      port = start(one["config"], "jwks.json")
      for key <- one["already_seen"] || [], do: remember(key)
      check(one, send_request(port, one["request"]))
      stop_supervised!(__MODULE__)
    end

    assert Vectors.driven?(cases, "dpop.json")
  end

  test "a proof that was accepted is refused the next time" do
    [one | _rest] = Vectors.all("dpop.json")
    port = start(nil, "jwks.json")
    assert send_request(port, one["request"]).status == 200
    again = send_request(port, one["request"])
    assert again.status == 401
    assert [challenge] = challenges(again)
    assert challenge =~ ~s(DPoP error="invalid_dpop_proof")
  end

  test "of a hundred copies of one proof one is accepted" do
    [one | _rest] = Vectors.all("dpop.json")
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
    cases = Vectors.all("challenges.json")

    for one <- cases do
      {options, request} = provoking(one["id"])
      response = request.(start(one["config"], "jwks.json", options))
      assert response.status == one["status"], one["id"]
      assert challenges(response) == one["www_authenticate"], one["id"]
      assert RawHTTP.header_values(response, "cache-control") == ["no-store"]

      for {name, value} <- one["other_headers"] || %{},
          do: assert(RawHTTP.header_values(response, String.downcase(name)) == [value])

      check_anonymous(response, one)
      stop_supervised!(__MODULE__)
    end

    assert Vectors.driven?(cases, "challenges.json")
  end

  # The options of an instance and the request that it answers so.
  defp provoking(id) do
    right = &bearer(&1, token("at-valid-es256"))
    step_up = fn _context, _definition -> {:step_up, ["phr", "phrh"], 300} end
    down = [keys: {:jwks_uri, "http://127.0.0.1:1/jwks"}]
    selecting = %{"tools/call" => :selected_definition}

    case id do
      "anonymous" <> _dpop ->
        {[], &anonymous(&1, "tools/list")}

      "invalid-bearer" ->
        {[], &bearer(&1, token("at-expired"))}

      "bound-as-bearer" ->
        {[], &proof(&1, "dpop-bound-as-bearer")}

      "invalid-proof" ->
        {[], &proof(&1, "dpop-sig-other-key")}

      "nonce" ->
        {[], &proof(&1, "dpop-nonce-missing")}

      "insufficient-scope" ->
        {[], &bearer(&1, token("at-valid-es256"), "read")}

      "insufficient-scope-dpop" ->
        {[scope_policy: selecting], &proof(&1, "dpop-valid-es256", "read")}

      "step-up" ->
        {[step_up: step_up], right}

      "mount-denied" ->
        {[oauth: [authorize_mount: fn _who, _what -> :deny end]], right}

      "key-source-down" ->
        {[issuer: down], right}
    end
  end

  # What is refused before its body is read has no id.
  defp check_anonymous(%{status: 401} = response, %{"error" => error})
       when error != "insufficient_user_authentication" do
    assert RawHTTP.header_values(response, "vary") == ["Authorization, DPoP, Origin"]

    assert response.body ==
             ~s({"jsonrpc":"2.0","error":{"code":-31401,"message":"Unauthorized"}})
  end

  defp check_anonymous(_response, _one), do: :ok

  defp fetching?(%{"expect" => expected}),
    do: is_map_key(expected, "jwks_after_refetch") or is_map_key(expected, "refetch")

  # An issuer whose keys change, or which is gone, half a minute after they were fetched.
  defp refetch(%{"expect" => expected} = one) do
    issuer = start_supervised!({Issuer, %{"/jwks" => set(one["jwks"])}})
    keys = {:jwks_uri, Issuer.url(issuer, "/jwks")}
    port = start(one["config"], one["jwks"], issuer: [keys: keys])
    assert bearer(port, token("at-valid-es256")).status == 200
    Issuer.put(issuer, "/jwks", refetched(expected))
    pass(@pause_ms)
    check(one, bearer(port, one["token"]))
    assert length(Issuer.asked(issuer)) == 2
    # The keys of before serve on.
    assert bearer(port, token("at-valid-es256")).status == 200
    stop_supervised!(__MODULE__)
    stop_supervised!(Issuer)
  end

  defp refetched(%{"jwks_after_refetch" => file, "refetches" => 1}), do: set(file)
  defp refetched(%{"refetch" => "fail"}), do: :close

  defp set(file), do: {200, [], Vectors.read(file)}

  defp pass(ms) do
    [{pid, _value}] = Registry.lookup(BeamMCP.Registry, {__MODULE__, {Keys, 0}})
    clock = fn -> System.monotonic_time(:millisecond) + ms end
    :sys.replace_state(pid, &%{&1 | clock: clock})
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
    values = Map.merge(Vectors.load("config.json"), config || %{})
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
          keys: {:static, Vectors.read(jwks)},
          algs: values["algs"],
          client_id_claims: values["client_id_claims"],
          scope_claims: values["scope_claims"]
        ],
        issuer
      )

    nonce_secret = Vectors.load("dpop.json")["nonce"]["secret_b64u"]

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
    one = find("dpop.json", id)
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

  defp token(id), do: find("access-tokens.json", id)["token"]

  defp find(file, id), do: Enum.find(Vectors.all(file), &(&1["id"] == id))
end
