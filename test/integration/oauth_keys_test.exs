defmodule BeamMCP.OAuthKeysTest do
  # Keys that are fetched from an issuer on this machine: when, how often, and what they replace.
  use ExUnit.Case, async: false

  alias BeamMCP.OAuth
  alias BeamMCP.Test.{Certificates, Issuer, RawHTTP, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @metadata "/.well-known/openid-configuration"

  setup do
    # The native threads that fetch start with the first instance.
    start_supervised!({BeamMCP, name: :threads})
    clock = :counters.new(1, [])
    {:ok, issuer: start_supervised!({Issuer, %{"/jwks" => set("jwks.json")}}), clock: clock}
  end

  describe "over a socket" do
    test "503 without a challenge until there are keys, then the token decides", context do
      Issuer.put(context.issuer, "/jwks", {500, [], ""})
      port = serve({:jwks_uri, Issuer.url(context.issuer, "/jwks")})
      response = call(port, "at-valid-es256")
      assert response.status == 503
      assert RawHTTP.header_values(response, "retry-after") == ["5"]
      assert RawHTTP.header_values(response, "www-authenticate") == []
    end

    test "keys that were fetched accept and refuse", context do
      port = serve({:jwks_uri, Issuer.url(context.issuer, "/jwks")})
      assert call(port, "at-valid-es256").status == 200
      assert call(port, "at-sig-flipped").status == 401
      assert call(port, "at-kid-unknown").status == 401
      for _ <- 1..50, do: assert(call(port, "at-kid-unknown").status == 401)
      assert Issuer.asked(context.issuer) == ["/jwks"]
    end

    test "no keys are fetched for a token of the wrong form", context do
      port = serve({:jwks_uri, Issuer.url(context.issuer, "/jwks")})
      assert call(port, "at-valid-es256").status == 200
      assert call(port, "at-alg-none").status == 401
      assert call(port, "at-jwe-five").status == 401
      assert Issuer.asked(context.issuer) == ["/jwks"]
    end
  end

  describe "a fetch" do
    test "is one for a thousand who wait for it", context do
      {name, _pid} = keys(context)

      answers =
        1..900
        |> Enum.map(fn _waiting -> Task.async(fn -> OAuth.Keys.refresh(name, 0, 0) end) end)
        |> Task.await_many(20_000)

      assert Enum.uniq(answers) == [:ok]
      assert Issuer.asked(context.issuer) == ["/jwks"]
    end

    test "is not repeated within half a minute", context do
      {name, _pid} = keys(context)
      for _ <- 1..3, do: assert(OAuth.Keys.refresh(name, 0, 0) == :ok)
      assert length(Issuer.asked(context.issuer)) == 1
      :counters.put(context.clock, 1, 30_000)
      for _ <- 1..3, do: assert(OAuth.Keys.refresh(name, 0, 0) == :ok)
      assert length(Issuer.asked(context.issuer)) == 2
    end

    test "follows no redirect", context do
      Issuer.put(context.issuer, "/jwks", {302, [location: "/elsewhere"], ""})
      Issuer.put(context.issuer, "/elsewhere", set("jwks.json"))
      {name, _pid} = keys(context)
      assert OAuth.Keys.refresh(name, 0, 0) == :failed
      assert Issuer.asked(context.issuer) == ["/jwks"]
    end

    test "of more than 512 KiB is given up", context do
      Issuer.put(context.issuer, "/jwks", {200, [], String.duplicate(" ", 600_000)})
      {name, _pid} = keys(context)
      assert OAuth.Keys.refresh(name, 0, 0) == :failed
    end

    test "that brings no key set replaces none", context do
      {:ok, %{"bodies" => bodies}} =
        @fixtures |> Path.join("jwks-invalid.json") |> File.read!() |> BeamMCP.Native.decode()

      {name, pid} = keys(context)
      assert OAuth.Keys.refresh(name, 0, 0) == :ok

      for {body, round} <- Enum.with_index(bodies, 1) do
        # Within the five minutes that the good set is fresh.
        :counters.put(context.clock, 1, round * 31_000)
        Issuer.put(context.issuer, "/jwks", {200, [], body})
        assert OAuth.Keys.refresh(name, 0, 0) == :failed, body
        assert keys?(pid)
      end

      # Past that and one retry it counts as gone.
      :counters.put(context.clock, 1, 305_001)
      assert OAuth.Keys.refresh(name, 0, 0) in [:ok, :failed]
      :counters.put(context.clock, 1, 400_000)
      assert OAuth.Keys.refresh(name, 0, 0) == :failed
      refute keys?(pid)
    end

    test "that fails leaves old keys for an hour beyond their time", context do
      {name, pid} = keys(context)
      assert OAuth.Keys.refresh(name, 0, 0) == :ok
      Issuer.put(context.issuer, "/jwks", {503, [], ""})
      :counters.put(context.clock, 1, 300_000 + 3_600_000)
      assert OAuth.Keys.refresh(name, 0, 0) == :failed
      assert keys?(pid)
      :counters.put(context.clock, 1, 300_000 + 3_700_000)
      assert OAuth.Keys.refresh(name, 0, 0) == :failed
      refute keys?(pid)
    end
  end

  describe "over TLS" do
    @describetag :tmp_dir

    test "the authority is one that the issuer's option names", %{tmp_dir: folder} = context do
      authority = Certificates.authority()
      secure = secure(authority, "localhost")
      root = Certificates.write_root(authority, folder)
      port = serve({:jwks_uri, Issuer.url(secure, "/jwks")}, cacertfile: root)
      assert call(port, "at-valid-es256").status == 200
      assert Issuer.asked(context.issuer) == []
    end

    test "a stranger's certificate, another host's and one of old bring no keys", context do
      authority = Certificates.authority()
      root = Certificates.write_root(authority, context.tmp_dir)

      for {issuer, reason} <- [
            {secure(Certificates.authority(), "localhost"),
             "UnknownIssuer|InvalidSignature|BadSignature"},
            {secure(authority, "other.example"), "not valid for name"},
            {secure(authority, "localhost", validity: {{2020, 1, 1}, {2021, 1, 1}}), "expired"}
          ] do
        source = {:jwks_uri, Issuer.url(issuer, "/jwks")}

        log =
          ExUnit.CaptureLog.capture_log(fn ->
            port = serve(source, cacertfile: root)
            assert call(port, "at-valid-es256").status == 503
            stop_supervised!(__MODULE__)
          end)

        assert log =~ "the keys of https://auth.example.com cannot be had"
        assert log =~ Regex.compile!(reason)
        assert Issuer.asked(issuer) == []
      end
    end

    test "the system does not know an authority of ours" do
      secure = secure(Certificates.authority(), "localhost")
      port = serve({:jwks_uri, Issuer.url(secure, "/jwks")})
      assert call(port, "at-valid-es256").status == 503
      assert Issuer.asked(secure) == []
    end
  end

  test "keys outlive a Registry that was killed", context do
    {name, pid} = keys(context)
    assert OAuth.Keys.refresh(name, 0, 0) == :ok
    Process.exit(Process.whereis(BeamMCP.Registry), :kill)
    found = fn -> GenServer.whereis(BeamMCP.Instance.via(name, {OAuth.Keys, 0})) end
    assert Enum.find_value(1..200, fn _ -> Process.sleep(10) && whereis(found) end) == pid
    assert OAuth.Keys.refresh(name, 0, 0) == :ok
    assert Issuer.asked(context.issuer) == ["/jwks"]
  end

  test "keys of a process that was killed serve nobody", context do
    port = serve({:jwks_uri, Issuer.url(context.issuer, "/jwks")})
    assert call(port, "at-valid-es256").status == 200
    Issuer.put(context.issuer, "/jwks", {500, [], ""})
    role = {__MODULE__, {OAuth.Keys, 0}}
    [{pid, _value}] = Registry.lookup(BeamMCP.Registry, role)
    Process.exit(pid, :kill)

    another? = fn ->
      match?([{other, _value}] when other != pid, Registry.lookup(BeamMCP.Registry, role))
    end

    assert Enum.any?(1..200, fn _ -> Process.sleep(10) && another?.() end)
    assert call(port, "at-valid-es256").status == 503
    Issuer.put(context.issuer, "/jwks", set("jwks.json"))
    [{pid, _value}] = Registry.lookup(BeamMCP.Registry, role)
    send(pid, {:fetch, 0})

    assert Enum.any?(1..200, fn _ ->
             Process.sleep(10) && call(port, "at-valid-es256").status == 200
           end)
  end

  describe "discovery" do
    test "finds the keys where the metadata of the issuer says", context do
      url = Issuer.url(context.issuer, "")
      body = ~s({"issuer":"#{url}","jwks_uri":"#{url}/jwks"})
      Issuer.put(context.issuer, @metadata, {200, [], body})
      {name, _pid} = keys(context, {:discover, url}, url)
      assert OAuth.Keys.refresh(name, 0, 0) == :ok

      assert Enum.reverse(Issuer.asked(context.issuer)) ==
               ["/.well-known/oauth-authorization-server", @metadata, "/jwks"]
    end

    test "believes no metadata of another issuer, and no address that is not its own to name",
         context do
      url = Issuer.url(context.issuer, "")

      for body <- [
            ~s({"issuer":"#{url}/","jwks_uri":"#{url}/jwks"}),
            ~s({"jwks_uri":"#{url}/jwks"}),
            ~s({"issuer":"#{url}"}),
            ~s({"issuer":"#{url}","jwks_uri":"file:///etc/passwd"}),
            ~s({"issuer":"#{url}","jwks_uri":"http://169.254.169.254/latest"})
          ] do
        Issuer.put(context.issuer, @metadata, {200, [], body})
        {name, _pid} = keys(context, {:discover, url}, url)
        assert OAuth.Keys.refresh(name, 0, 0) == :failed, body
        refute "/jwks" in Issuer.asked(context.issuer)
      end
    end
  end

  # Keys of a listener that is not there, with a clock that is moved by hand.
  defp keys(context, source \\ nil, issuer \\ "https://auth.example.com") do
    source = source || {:jwks_uri, Issuer.url(context.issuer, "/jwks")}
    options = oauth(source, issuer)
    oauth = OAuth.new!(options, "", %{secrets: nil, alone?: true})
    clock = context.clock
    oauth = %{oauth | clock: fn -> :counters.get(clock, 1) end}
    name = make_ref()
    {name, start_supervised!({OAuth.Keys, {name, 0, oauth}}, id: name)}
  end

  # Without a Registry nobody is found.
  defp whereis(found) do
    found.()
  rescue
    ArgumentError -> nil
  end

  defp keys?(pid), do: :sys.get_state(pid).issuers[0].came_ms != nil

  defp oauth(source, issuer, options \\ []) do
    issuer = [issuer: issuer, keys: source] ++ options
    [resource: "https://mcp.example.com/mcp", issuers: [issuer], now_s: 1_800_000_000]
  end

  defp secure(authority, name, options \\ []) do
    identity = Certificates.issue(authority, name, options)
    answers = %{"/jwks" => set("jwks.json")}
    start_supervised!({Issuer, {answers, identity}}, id: make_ref())
  end

  defp serve(source, options \\ []) do
    listener = [authorize: {:oauth, oauth(source, "https://auth.example.com", options)}]
    start_supervised!({BeamMCP, Wire.options(__MODULE__, http: listener)}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp call(port, id) do
    {:ok, %{"cases" => cases}} =
      @fixtures |> Path.join("access-tokens.json") |> File.read!() |> BeamMCP.Native.decode()

    token = Enum.find(cases, &(&1["id"] == id))["token"]
    RawHTTP.call(port, "whoami", "{}", headers: [authorization: "Bearer " <> token])
  end

  defp set(file), do: {200, [], File.read!(Path.join(@fixtures, file))}
end
