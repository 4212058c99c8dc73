defmodule BeamMCP.ConfigTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Config
  alias BeamMCP.Fixture.{Catalog, Tools}

  @required [catalog: Catalog, dispatch: &Tools.call/3]
  @http [authorize: :none, allowed_origins: []]

  defp config(options), do: Config.new!(@required ++ options)

  defp message(options) do
    assert_raise(ArgumentError, fn -> Config.new!(options) end).message
  end

  describe "what a host must say" do
    test "nothing of the instance: a catalog can be registered later" do
      assert %{catalog: nil, dispatch: nil, registrations: []} = Config.new!(name: :n)
    end

    test "authorize and allowed_origins of every listener" do
      assert message(@required ++ [http: [allowed_origins: []]]) =~
               "option http[0].authorize is required"

      assert message(@required ++ [http: [@http, [authorize: :none]]]) =~
               "option http[1].allowed_origins is required"
    end
  end

  describe "catalog and dispatch" do
    test "a catalog is a module with capabilities/0" do
      assert message(catalog: NoSuchModule, dispatch: &Tools.call/3) =~ "got: NoSuchModule"
      assert message(catalog: Enum, dispatch: &Tools.call/3) =~ "capabilities/0"
    end

    test "dispatch is a function or names one, with or without context" do
      fun = fn _name, _arguments -> {:ok, ""} end
      assert config([]).dispatch == {:fun, &Tools.call/3, 3}
      assert Config.new!(catalog: Catalog, dispatch: fun).dispatch == {:fun, fun, 2}

      assert Config.new!(catalog: Catalog, dispatch: {Tools, :call}).dispatch ==
               {:mfa, Tools, :call, [], 3}

      assert Config.new!(catalog: Catalog, dispatch: {Tools, :call, []}).dispatch ==
               {:mfa, Tools, :call, [], 3}

      assert Config.new!(catalog: Catalog, dispatch: {Map, :get, [:extra]}).dispatch ==
               {:mfa, Map, :get, [:extra], 2}
    end

    test "a function that does not exist, or of another arity, is refused" do
      for wrong <- [
            fn -> 1 end,
            Function.capture(Tools, :missing, 3),
            {Tools, :missing},
            {Tools, :call, 3},
            {Tools, :call, [1, 2, 3, 4]},
            :call
          ] do
        assert message(catalog: Catalog, dispatch: wrong) =~ "option dispatch: expected"
      end
    end
  end

  describe "authorize: :none" do
    test "is served on loopback addresses and Unix-domain sockets" do
      for ip <- [
            {127, 0, 0, 1},
            "127.8.9.1",
            "::1",
            {0, 0, 0, 0, 0, 0xFFFF, 0x7F00, 1},
            {:local, "/tmp/s"}
          ] do
        assert [%{allowed_hosts: :loopback}] = config(http: [ip: ip] ++ @http).http
      end
    end

    test "is refused where other machines reach it, unless the host says so" do
      for ip <- ["0.0.0.0", "::", "192.0.2.1"] do
        assert message(@required ++ [http: [ip: ip] ++ @http]) =~
                 "allow_public_unauthenticated: true"

        http = [ip: ip, allow_public_unauthenticated: true] ++ @http
        assert [%{allowed_hosts: :any}] = config(http: http).http
      end
    end

    test "a function may listen anywhere" do
      http = [ip: "0.0.0.0", authorize: fn _request -> :ok end, allowed_origins: []]
      assert [%{bind: {:tcp, {0, 0, 0, 0}, 4040}}] = config(http: http).http
    end
  end

  describe "values" do
    test "of listeners" do
      legal = [
        path: "/",
        path: "/a/b-c",
        ip: {:local, "/tmp/socket"},
        allowed_hosts: ["mcp.example.com", "localhost:4040"],
        allowed_origins: ["https://app.example.com", "http://localhost:3000", "null"],
        authorize: {Map, :new},
        authorize: {Map, :get, [:ok]},
        authorize_body: fn _request, _body -> :ok end,
        authorize_body: {Map, :merge}
      ]

      for {key, value} <- legal,
          do: assert(%{} = Config.listener!(Keyword.put(@http, key, value)))

      illegal = [
        path: "mcp",
        path: "/a b",
        path: "//",
        ip: "localhost",
        ip: {256, 0, 0, 1},
        ip: {:local, ""},
        ip: {:local, String.duplicate("a", 108)},
        allowed_hosts: "localhost",
        allowed_hosts: ["http://localhost"],
        allowed_hosts: ["*.example.com"],
        allowed_hosts: ["::1"],
        allowed_origins: :all,
        allowed_origins: ["https://app.example.com/"],
        allowed_origins: ["app.example.com"],
        allowed_origins: ["https://*.example.com"],
        authorize: fn -> :ok end,
        authorize: Function.capture(Tools, :missing, 1),
        authorize: {Tools, :missing},
        authorize_body: fn _request -> :ok end,
        port: 65_536
      ]

      for {key, value} <- illegal do
        error =
          assert_raise ArgumentError, fn -> Config.listener!(Keyword.put(@http, key, value)) end

        assert error.message =~ "option #{key}: expected", inspect({key, value})
      end
    end

    test "name the entry that is wrong" do
      for {key, list, wrong} <- [
            {:allowed_origins, ["https://a.example", "https://b.example/"],
             ~S("https://b.example/")},
            {:allowed_hosts, ["a.example", "http://b.example"], ~S("http://b.example")},
            {:trusted_proxies, ["10.0.0.0/8", :lan], ":lan"}
          ] do
        error =
          assert_raise ArgumentError, fn -> Config.listener!(Keyword.put(@http, key, list)) end

        assert error.message =~ ~r/option #{key}: expected .*, got one with: #{wrong}$/
      end

      for {key, value, wrong} <- [
            {:context_headers, ["x-tenant", "a b"], ~S("a b")},
            {:rate_limits, [calls: {1, 1_000}, reads: {1, 1_000}], "{:reads, {1, 1000}}"},
            {:cache_ttl_ms, [tools: 1, prompts: -1], "{:prompts, -1}"},
            {:scope_map, %{"tools/call" => ["a"], "tools/list" => "b"}, ~S({"tools/list", "b"})},
            {:icons, [%{src: "https://a/i.png"}, %{src: "i.png"}], ~S(%{src: "i.png"})},
            {:secrets, ["swordfish"], "a value that is not repeated here"}
          ] do
        assert String.ends_with?(message([{key, value}]), "got one with: #{wrong}")
      end
    end

    test "do not repeat secrets that lie in the wrong place" do
      oauth = [resource: "https://a.example/mcp", issuers: [client_secret: "swordfish"]]
      http = [authorize: {:oauth, oauth}, allowed_origins: []]
      assert message(http: http) =~ "option http[0].authorize.issuers: expected"
      refute message(http: http) =~ "swordfish"
    end

    test "of the instance" do
      assert config(context_headers: ["X-Tenant"]).context_headers == ["x-tenant"]
      assert message(@required ++ [context_headers: ["a b"]]) =~ "list of header names"
      assert message(@required ++ [icons: [%{src: "ftp://x"}]]) =~ "option icons"
      assert message(@required ++ [http: :on]) =~ "option http: expected a keyword list"
      assert message(@required ++ [session_store: {Enum, []}]) =~ "option session_store"
    end

    test "of the session store, checked by the store" do
      store = {BeamMCP.SessionStore.ETS, max_sessions: 0}
      assert message(@required ++ [session_store: store]) =~ "option session_store.max_sessions"
    end
  end

  describe "the version that clients are told" do
    defmodule Offers do
      def capabilities, do: %{tools: [], resources: [], prompts: []}
    end

    test "is that of the application of the catalog, unless the host says another" do
      assert Config.new!(catalog: Offers).server_version == "0.1.0"
      spec = {:application, :offering, vsn: ~c"2.7.1", modules: [Offers]}
      :ok = :application.load(spec)
      on_exit(fn -> Application.unload(:offering) end)
      assert Config.new!(catalog: Offers).server_version == "2.7.1"
      assert Config.new!(catalog: Offers, server_version: "9").server_version == "9"
    end
  end

  describe "scopes" do
    test "the recorded policies that contradict themselves are refused" do
      path = Path.expand("../fixtures/auth/scopes.json", __DIR__)
      {:ok, %{"cases" => cases}} = path |> File.read!() |> BeamMCP.Native.decode()

      judged =
        for %{"id" => id, "policy" => policy, "expect" => expected} = one <- cases,
            one["definition"] == nil,
            policy["scope_policy"] == nil do
          options = [
            scope_map: policy["scope_map"] || %{},
            default_scopes: policy["default_scopes"] || [],
            implies: policy["implies"] || %{}
          ]

          case expected["decision"] do
            "config_error" ->
              assert message(@required ++ options) =~ ~r/option (scope_map|implies)/

            _decision ->
              assert %Config{} = config(options), id
          end

          expected["decision"]
        end

      assert Enum.count(judged, &(&1 == "config_error")) == 2
      assert length(judged) == 20
    end

    test "what is no scope is refused" do
      assert message(@required ++ [default_scopes: ["a b"]]) =~ ~s("a b" is no scope)

      assert message(@required ++ [scope_map: %{"tools/call" => "a"}]) =~
               "option scope_map: expected"

      assert message(@required ++ [implies: %{"a" => ["b c"]}]) =~ ~s(option implies: "b c")
    end
  end

  test "no report of a crash shows the secrets" do
    secret = String.duplicate("s", 32)
    refute inspect(config(secrets: [secret])) =~ secret
  end

  describe "for the native library" do
    test "the instance has every key of the contract" do
      native =
        Config.native(
          config(server_title: "T", icons: [%{src: "https://a/i.png"}]),
          ["secret"],
          true
        )

      assert native |> Map.keys() |> Enum.sort() ==
               Enum.sort(
                 ~w(server_info instructions page_size caller_catalog max_depth max_number_digits
                 schema_max_depth schema_max_cost call_timeout_ms stream_after_ms
                 request_state_ttl_ms hook_timeout_ms
                 max_result_bytes log_level
                 context_headers cache allow_public_cache completes shared_sessions shared_tasks secrets max_calls
                 max_calls_per_principal max_subscriptions max_subscriptions_per_principal
                       max_buffered_bytes native_threads telemetry tells_decisions rate_limits scope_map scope_policy
                 default_scopes subscription_scopes implies hide_unauthorized authorizes_definitions
                 steps_up)a
               )

      assert native.server_info == %{
               name: "beam_mcp",
               version: "0.1.0",
               title: "T",
               icons: [%{src: "https://a/i.png"}]
             }
    end

    test "a listener has every key of the contract" do
      native = Config.native_listener(Config.listener!(@http), 7)

      assert native |> Map.keys() |> Enum.sort() ==
               Enum.sort(
                 ~w(bind path tls allowed_origins allowed_hosts hook authorize guard authorize_body
                 max_body_bytes max_headers max_header_bytes header_timeout_ms body_timeout_ms
                 idle_timeout_ms keep_alive_ms max_connections h2_max_streams backlog trusted_proxies)a
               )

      assert %{hook: 7, authorize: false, guard: nil, authorize_body: false} = native
    end
  end
end
