defmodule BeamMCP.OAuthTest do
  use ExUnit.Case, async: true

  alias BeamMCP.{Config, OAuth}

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @jwks File.read!(Path.join(@fixtures, "jwks.json"))
  @issuer [issuer: "https://auth.example.com", keys: {:static, @jwks}]
  @options [resource: "https://mcp.example.com/mcp", issuers: [@issuer]]

  defp listener(options, more \\ []) do
    [authorize: {:oauth, Keyword.merge(@options, options)}, allowed_origins: []] ++ more
  end

  defp message(options) do
    error = assert_raise ArgumentError, fn -> Config.new!(name: :n, http: listener(options)) end
    error.message
  end

  test "the least that works is a resource and an issuer with keys" do
    config = Config.new!(name: :n, http: listener([]))
    assert [%{authorize: %OAuth{resource: "https://mcp.example.com/mcp"}}] = config.http
  end

  test "keys may be given as a map" do
    {:ok, jwks} = BeamMCP.Native.decode(@jwks)
    issuer = [issuer: "https://auth.example.com", keys: {:static, jwks}]
    assert %{http: [_listener]} = Config.new!(name: :n, http: listener(issuers: [issuer]))
  end

  test "every resource that has no metadata is refused with its reason" do
    locations = Path.join(@fixtures, "metadata.json")
    {:ok, %{"locations" => rows}} = locations |> File.read!() |> BeamMCP.Native.decode()

    for row <- rows do
      case row do
        %{"error" => _word} ->
          assert message(resource: row["resource"]) =~ "option http[0].authorize.resource: "

        %{"metadata_url" => _url} ->
          assert %{} = Config.new!(name: :n, http: listener(resource: row["resource"]))
      end
    end
  end

  describe "clustered: true" do
    @apart [name: :n, clustered: true, secrets: [String.duplicate("s", 32)]]

    defp clustered(oauth, more \\ []),
      do: Config.new!(Keyword.merge(@apart, [http: listener(oauth)] ++ more))

    test "is refused where a proof is good once on each node, with the ways out" do
      error = assert_raise ArgumentError, fn -> clustered([]) end
      assert error.message =~ "option replay_store: with `clustered: true`"
      assert error.message =~ "BeamMCP.ReplayStore.ETS is not shared"
      assert error.message =~ "BeamMCP.ReplayStore.Mnesia"
      assert error.message =~ "`replay: :per_node`"
    end

    test "is taken with a shared store, without proofs, or when the host says so" do
      assert %Config{} = clustered([], replay_store: {BeamMCP.ReplayStore.Mnesia, []})
      assert %Config{} = clustered(dpop: :off)
      assert %Config{} = clustered(replay: :per_node, dpop_nonce: :required)

      assert %Config{} =
               Config.new!(@apart ++ [http: [authorize: fn _ -> :ok end, allowed_origins: []]])
    end

    test "per node without a nonce is refused, clustered or not" do
      expected = "option http[0].authorize.replay: `:per_node` needs `dpop_nonce: :required`"
      assert message(replay: :per_node) =~ expected

      assert assert_raise(ArgumentError, fn -> clustered(replay: :per_node) end).message =~
               expected
    end

    test "is refused without secrets" do
      error = assert_raise ArgumentError, fn -> clustered([], secrets: nil) end
      assert error.message =~ "option secrets: with `clustered: true`"
    end
  end

  test "what would be unsafe or useless is refused with its place" do
    for {options, expected} <- [
          {[issuers: []], "authorize.issuers: expected a list of 1 to 8 keyword lists"},
          {[issuers: List.duplicate(@issuer, 9)], "authorize.issuers: name 1 to 8 issuers"},
          {[issuers: [@issuer, @issuer]],
           ~s(authorize.issuers[1].issuer: "https://auth.example.com" is named twice)},
          {[issuers: [Keyword.delete(@issuer, :keys)]], "authorize.issuers[0].keys is required"},
          {[issuers: [[issuer: "auth", keys: {:static, @jwks}]]], ~s("auth" is no issuer)},
          {[issuers: [@issuer ++ [algs: ["none"]]]],
           ~s(authorize.issuers[0].algs: "none" is none of ES256)},
          {[issuers: [@issuer ++ [algs: ["HS256"]]]], ~s(algs: "HS256" is none of ES256)},
          {[issuers: [@issuer ++ [algs: []]]], "issuers[0].algs: name at least one algorithm"},
          {[issuers: [@issuer, [issuer: "https://b.example", keys: {:static, "{}"}]]],
           "authorize.issuers[1].keys: this is no key set"},
          {[dpop_algs: ["HS512"]], ~s(dpop_algs: "HS512" is none of)},
          {[audiences: []], "audiences: name at least one audience"},
          {[required_claims: ["iss", "aud", "exp"]],
           ~s(required_claims: "sub" cannot be left out)},
          {[scopes_supported: ["offline_access"]], "scopes_supported: \"offline_access\""},
          {[scopes_supported: ["a b"]], ~s(scopes_supported: "a b" is no scope)},
          {[leeway_s: 301], "authorize.leeway_s: expected an integer from 0 to 300"},
          {[dpop_nonce_secrets: ["short"]], "authorize.dpop_nonce_secrets: expected"}
        ] do
      assert message(options) =~ expected, inspect(options)
    end
  end

  test "a key set without a usable key is refused" do
    path = Path.join(@fixtures, "jwks-invalid.json")
    {:ok, %{"bodies" => bodies}} = path |> File.read!() |> BeamMCP.Native.decode()
    assert length(bodies) == 9

    for body <- bodies do
      issuer = [issuer: "https://auth.example.com", keys: {:static, body}]
      assert message(issuers: [issuer]) =~ "this is no key set"
    end
  end

  test "no handler is handed an access token" do
    for name <- ["Authorization", "dpop"] do
      error =
        assert_raise ArgumentError, fn ->
          Config.new!(name: :n, http: listener([]), context_headers: [name])
        end

      assert error.message =~ "would hand access tokens to handlers"
    end
  end

  test "nothing that is shown has a secret in it" do
    secret = String.duplicate("s", 32)
    options = [dpop_nonce: :required, dpop_nonce_secrets: [secret]]
    config = Config.new!(name: :n, http: listener(options))
    refute inspect(config, limit: :infinity, printable_limit: :infinity) =~ secret
  end
end
