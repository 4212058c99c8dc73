defmodule BeamMCP.OAuthClientTest do
  # As whom this server asks an issuer about tokens, when it has a key (RFC 7523): what the issuer reads, verified by
  # OTP's cryptography.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  import ExUnit.CaptureLog

  alias BeamMCP.Test.{Issuer, RawHTTP, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @now 1_800_000_000
  @path "/introspect"
  @active %{
    "active" => true,
    "iss" => "https://auth.example.com",
    "aud" => "https://mcp.example.com/mcp",
    "sub" => "user-1",
    "scope" => "mcp:tools:call",
    "exp" => @now + 600
  }

  setup do
    {:ok, issuer: start_supervised!({Issuer, %{@path => {200, [], json(@active)}}})}
  end

  test "each key and algorithm is the client's, in an assertion for each question", context do
    for {name, options, alg} <- [
          {"client-es256-a", [kid: "key-1"], "ES256"},
          {"client-ed25519", [alg: "EdDSA"], "EdDSA"},
          {"client-rsa2048", [], "RS256"},
          {"client-rsa2048", [alg: "PS256"], "PS256"}
        ] do
      port = serve(context, [client_key: {:file, file(name)}] ++ options)
      [one, other] = for token <- ["a", "b"], do: question(context, port, token)

      for {token, {head, form}} <- [{"a", one}, {"b", other}] do
        refute head =~ ~r/authorization/i
        assert %{"token" => ^token, "token_type_hint" => "access_token"} = form

        assert form["client_assertion_type"] ==
                 "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

        kid = if options[:kid], do: %{"kid" => "key-1"}, else: %{}
        assert {header, claims} = verified(form["client_assertion"], name)
        assert header == Map.merge(%{"alg" => alg, "typ" => "JWT"}, kid)

        assert %{
                 "iss" => "mcp-server",
                 "sub" => "mcp-server",
                 "aud" => "https://auth.example.com",
                 "iat" => @now,
                 "exp" => @now + 60,
                 "jti" => claims["jti"]
               } == claims
      end

      {_head, one} = one
      {_head, other} = other
      refute id(one, name) == id(other, name)
      stop_supervised!(__MODULE__)
    end
  end

  test "the audience of assertions may be another, and the key a text or a function", context do
    pem = File.read!(file("client-es256-a"))

    for key <- [pem, fn -> pem end] do
      port = serve(context, client_key: key, assertion_audience: "https://auth.example.com/token")
      {_head, form} = question(context, port, "opaque")
      {_header, claims} = verified(form["client_assertion"], "client-es256-a")
      assert claims["aud"] == "https://auth.example.com/token"
      stop_supervised!(__MODULE__)
    end
  end

  test "what is no key, or no one's, is refused at start with the option's name", context do
    secret = [client_secret: "a secret"]

    for {options, place} <- [
          {[], "client_secret is required, or else client_key"},
          {secret ++ [client_key: {:file, file("client-ed25519")}],
           "client_secret: client_key is given too"},
          {secret ++ [kid: "k"], "kid is for client_key"},
          {secret ++ [alg: "ES256"], "alg is for client_key"},
          {[client_key: {:file, "/no/such/file"}],
           "client_key: /no/such/file: no such file or directory"},
          {[client_key: "no key"], "client_key: it holds no private key in PEM"},
          {[client_key: 7], "client_key: expected `{:file, path}`, PEM text"},
          {[client_key: {:file, file("client-es256-a-encrypted")}],
           "client_key: the key is encrypted"},
          {[client_key: {:file, file("client-es256-a-sec1")}],
           "client_key: the key is none of RSA"},
          {[client_key: {:file, file("client-rsa1024")}], "client_key: the key is none of RSA"},
          {[client_key: {:file, file("client-rsa2048")}, alg: "ES256"],
           ~s(alg: "ES256" is none of what the key signs by: RS256, PS256)}
        ] do
      error =
        assert_raise ArgumentError, fn ->
          BeamMCP.Config.new!(name: :refused, http: listener(context, options))
        end

      assert error.message =~ "option http[0].authorize.issuers[0].keys." <> place
      refute error.message =~ "a secret"
    end
  end

  test "a key is shown nowhere, and a crash reports none of it", context do
    pem = File.read!(file("client-es256-a"))
    [_begin, first | _lines] = String.split(pem, "\n")
    options = [client_key: pem]
    Issuer.put(context.issuer, @path, :hang)
    port = serve(context, options)
    spec = BeamMCP.child_spec(http: listener(context, options))
    [listener] = BeamMCP.Instance.fetch!(__MODULE__).config.http

    for shown <- [spec, listener] do
      refute inspect(shown, structs: false, limit: :infinity, printable_limit: :infinity) =~ first
    end

    waiting = Task.async(fn -> call(port, "token-that-waits").status end)
    role = {__MODULE__, {BeamMCP.OAuth.Introspection, 0}}
    [{pid, _value}] = Registry.lookup(BeamMCP.Registry, role)

    log =
      capture_log(fn ->
        wait_until(fn -> map_size(:sys.get_state(pid).asked) == 1 end)
        send(pid, :nonsense)
        assert Task.await(waiting, 10_000) == 503
      end)

    assert log =~ "terminating"
    for secret <- [first, "token-that-waits", "eyJ"], do: refute(log =~ secret)
  end

  # The head and the form that the issuer is sent about a token.
  defp question(context, port, token) do
    test = self()

    Issuer.put(context.issuer, @path, fn request ->
      send(test, {:asked, request})
      {200, [], json(@active)}
    end)

    assert call(port, token).status == 200
    assert_received {:asked, request}
    [head, body] = String.split(request, "\r\n\r\n")
    {head, URI.decode_query(body)}
  end

  defp verified(assertion, name) do
    [header, claims, signature] = String.split(assertion, ".")
    [header_json, claims_json, signature] = Enum.map([header, claims, signature], &decode64/1)
    header_map = decode(header_json)
    jwk = jwk(name)
    assert verify(header_map["alg"], header <> "." <> claims, signature, jwk)
    {header_map, decode(claims_json)}
  end

  defp verify("ES256", signed, <<r::256, s::256>>, jwk) do
    der = :public_key.der_encode(:"ECDSA-Sig-Value", {:"ECDSA-Sig-Value", r, s})
    point = <<4>> <> jwk["x"] <> jwk["y"]
    :crypto.verify(:ecdsa, :sha256, signed, der, [point, :secp256r1])
  end

  defp verify("EdDSA", signed, signature, jwk),
    do: :crypto.verify(:eddsa, :none, signed, signature, [jwk["x"], :ed25519])

  defp verify("RS256", signed, signature, jwk),
    do: :crypto.verify(:rsa, :sha256, signed, signature, [jwk["e"], jwk["n"]])

  defp verify("PS256", signed, signature, jwk) do
    pss = [rsa_padding: :rsa_pkcs1_pss_padding, rsa_pss_saltlen: 32]
    :crypto.verify(:rsa, :sha256, signed, signature, [jwk["e"], jwk["n"]], pss)
  end

  # The numbers and points of a recorded key.
  defp jwk(name) do
    keys = decode(File.read!(Path.join(@fixtures, "keys.json")))["private_jwk"]

    for {member, value} <- keys[name],
        member in ~w(x y e n),
        into: %{},
        do: {member, decode64(value)}
  end

  defp id(form, name) do
    {_header, claims} = verified(form["client_assertion"], name)
    claims["jti"]
  end

  defp file(name), do: Path.join([@fixtures, "client-keys", name <> ".pem"])

  defp serve(context, options) do
    own = Wire.options(__MODULE__, http: listener(context, options))
    start_supervised!({BeamMCP, own}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp listener(context, options) do
    url = Issuer.url(context.issuer, @path)
    keys = {:introspect, url, [client_id: "mcp-server"] ++ options}
    issuers = [[issuer: "https://auth.example.com", keys: keys]]
    oauth = [resource: "https://mcp.example.com/mcp", issuers: issuers, now_s: @now]
    [authorize: {:oauth, oauth}, allowed_origins: []]
  end

  defp call(port, token) do
    RawHTTP.call(port, "whoami", "{}", headers: [authorization: "Bearer " <> token])
  end

  defp decode64(text), do: Base.url_decode64!(text, padding: false)

  defp decode(json) do
    {:ok, value} = BeamMCP.Native.decode(json)
    value
  end

  defp json(map) do
    {:ok, json} = BeamMCP.Native.encode(map)
    json
  end
end
