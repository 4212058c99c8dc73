defmodule BeamMCP.OAuthMTLSTest do
  # The recorded decisions about certificate-bound tokens (RFC 8705), with the certificate in the
  # handshake and in the header of a proxy (RFC 9440); and whose header is believed. The recorded
  # certificates have no keys, so that over a handshake others stand for them, in tokens and proofs
  # that say the same of these.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{Certificates, JWS, RawHTTP, Vectors, Wire}

  @moduletag :integration
  @moduletag :tmp_dir
  @moduletag :capture_log

  @fixtures Path.expand("../fixtures/auth", __DIR__)
  @proxy {:trusted_proxy, ["127.0.0.0/8"], "Client-Cert"}

  setup_all do
    {:ok, authority: Certificates.authority()}
  end

  setup %{tmp_dir: folder, authority: authority} do
    files = authority |> Certificates.issue("localhost") |> Certificates.write(folder)
    tls = [client_certificates: :requested] ++ files
    %{"cases" => cases, "certificates" => recorded} = load("mtls.json")

    stand_ins = for {name, one} <- recorded, do: {one, Certificates.issue(authority, name)}

    {:ok, tls: tls, cases: cases, stand_ins: stand_ins}
  end

  test "every case is answered as recorded over a handshake", context do
    # No client can show what is no certificate.
    cases = Enum.reject(context.cases, &(&1["id"] == "mtls-cert-garbage"))
    assert length(cases) == 8

    for one <- cases do
      port = start([tls: context.tls], mtls: {:tls})
      check(one, shake(port, context, one))
      stop_supervised!(__MODULE__)
    end
  end

  test "every case is answered as recorded over the header of a proxy", context do
    assert Vectors.driven?(context.cases, "mtls.json")

    for one <- context.cases do
      port = start([], mtls: @proxy)
      check(one, send_request(port, one, client_cert(one)))
      stop_supervised!(__MODULE__)
    end
  end

  describe "a header" do
    test "is no certificate of a peer that is not listed", context do
      bound = find(context, "mtls-valid")

      for {ip, networks, status} <- [
            {{127, 0, 0, 1}, ["10.0.0.0/8", "127.0.0.2"], 401},
            {{127, 0, 0, 1}, [:unix], 401},
            {{127, 0, 0, 1}, ["::/0"], 200},
            {{0, 0, 0, 0, 0, 0, 0, 0}, ["127.0.0.1"], 200}
          ] do
        port = start([ip: ip], mtls: {:trusted_proxy, networks, "client-cert"})
        response = send_request(port, bound, client_cert(bound))
        assert response.status == status, inspect(networks)
        stop_supervised!(__MODULE__)
      end
    end

    test "of such a peer is seen by nobody, and that of a proxy by who asks for it", context do
      unbound = find(context, "mtls-ambient-unbound")
      names = ["client-cert", "client-cert-chain", "x-cert"]
      headers = [client_cert: ":AQID:", client_cert_chain: ":AQID:", x_cert: ":AQID:"]

      for {mtls, seen} <- [
            {{:trusted_proxy, ["10.0.0.0/8"], "X-Cert"}, []},
            {{:trusted_proxy, ["127.0.0.1"], "x-cert"}, names},
            {{:tls}, ["x-cert"]}
          ] do
        test = self()
        mount = fn _principal, request -> send(test, request) && :ok end
        http = if mtls == {:tls}, do: [tls: context.tls], else: []
        port = start(http, [mtls: mtls, authorize_mount: mount], context_headers: names)
        target = if mtls == {:tls}, do: connect(port, context), else: port
        response = send_request(target, unbound, headers)
        assert response.status == 200
        result = decode(response.body)["result"]["structuredContent"]
        assert result["headers"] == seen
        assert_receive %BeamMCP.Request{} = request
        shown = for {name, _value} <- request.headers, name in names, do: name
        assert shown == seen -- ["client-cert"]
        stop_supervised!(__MODULE__)
      end
    end

    test "that comes twice, or holds something else, is a mismatch", context do
      bound = find(context, "mtls-valid")
      [client_cert: good] = client_cert(bound)
      port = start([], mtls: @proxy)
      assert send_request(port, bound, client_cert: good).status == 200

      for wrong <- [[good, good], ["", good], good <> ", " <> good, good <> ";a", "", ":", "x"] do
        assert send_request(port, bound, client_cert: wrong).status == 401
      end
    end
  end

  test "a token that is known is held against the certificate of each request", context do
    port = start([tls: context.tls], mtls: {:tls})
    [bound, other] = for id <- ["mtls-valid", "mtls-mismatch"], do: find(context, id)

    for {one, status} <- [{bound, 200}, {other, 401}, {bound, 200}],
        do: assert(shake(port, context, one).status == status)
  end

  test "the metadata tells of it" do
    port = start([], mtls: @proxy)
    response = RawHTTP.request(port, "GET", "/.well-known/oauth-protected-resource")
    assert decode(response.body)["tls_client_certificate_bound_access_tokens"] == true
    stop_supervised!(__MODULE__)
    port = start([], [])
    response = RawHTTP.request(port, "GET", "/.well-known/oauth-protected-resource")
    refute Map.has_key?(decode(response.body), "tls_client_certificate_bound_access_tokens")
  end

  test "without it a bound token is refused, whatever comes along", context do
    bound = find(context, "mtls-valid")
    port = start([tls: context.tls], [])
    assert shake(port, context, bound).status == 401
    assert send_request(connect(port, context), bound, client_cert(bound)).status == 401
  end

  defp check(%{"id" => id, "expect" => %{"outcome" => "accept"} = expected}, response) do
    assert response.status == 200, "#{id}: #{inspect(response)}"
    assert decode(response.body)["result"]["structuredContent"]["sender"] == expected["binding"]
  end

  defp check(%{"id" => id, "expect" => %{"http" => http, "reason" => reason}}, response) do
    assert response.status == http["status"], id
    assert [challenge] = RawHTTP.header_values(response, "www-authenticate")
    assert String.starts_with?(challenge, http["scheme"] <> " "), id
    assert challenge =~ ~s(error="#{http["error"]}"), id
    refute challenge =~ reason, id
  end

  defp start(http, oauth, options \\ []) do
    %{"now" => now, "issuer" => issuer, "resource" => resource} = load("config.json")
    keys = {:static, File.read!(Path.join(@fixtures, "jwks.json"))}
    own = [resource: resource, issuers: [[issuer: issuer, keys: keys]], now_s: now]
    http = [authorize: {:oauth, oauth ++ own}, allowed_hosts: :any] ++ http
    options = Wire.options(__MODULE__, [http: http, dispatch: &__MODULE__.call/3] ++ options)
    start_supervised!({BeamMCP, options}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  @doc false
  def call(name, arguments, context) do
    {:ok, result} = Wire.call(name, arguments, context)
    {:ok, Map.put(result, :headers, for({name, _value} <- context.headers, do: name))}
  end

  defp send_request(target, %{"request" => request}, headers) do
    proofs = for proof <- request["dpop"], do: {:dpop, proof}
    credentials = [authorization: request["authorization"]] ++ proofs
    RawHTTP.call(target, "whoami", "{}", headers: credentials ++ headers)
  end

  defp connect(port, context, identity \\ nil) do
    {:ok, socket} = Certificates.connect(port, context.authority, identity: identity)
    socket
  end

  # A request over a connection of its own with the stand-in of its certificate.
  defp shake(port, context, %{"request" => request} = one) do
    shown = request["client_certificate_der_b64"]

    identity =
      Enum.find_value(context.stand_ins, fn {recorded, identity} ->
        if recorded["der_b64"] == shown, do: identity
      end)

    socket = connect(port, context, identity)
    response = send_request(socket, %{one | "request" => reissue(request, context)}, [])
    :ssl.close(socket)
    response
  end

  # The same credentials, bound to the stand-ins.
  defp reissue(request, context) do
    keys = load("keys.json")["private_jwk"]
    [scheme, token] = String.split(request["authorization"], " ")
    {header, claims} = JWS.read(token)
    claims = Map.new(claims, &stand_in(&1, context.stand_ins))
    token = JWS.sign({header, claims}, keys["as-es256-1"])
    ath = JWS.base64(:crypto.hash(:sha256, token))

    proofs =
      for proof <- request["dpop"] do
        {header, claims} = JWS.read(proof)
        JWS.sign({header, %{claims | "ath" => ath}}, keys["client-es256-a"])
      end

    %{request | "authorization" => scheme <> " " <> token, "dpop" => proofs}
  end

  defp stand_in({"cnf", %{"x5t#S256" => bound} = cnf}, stand_ins) do
    {_recorded, identity} =
      Enum.find(stand_ins, fn {recorded, _identity} -> recorded["x5t#S256"] == bound end)

    {"cnf", %{cnf | "x5t#S256" => JWS.base64(:crypto.hash(:sha256, identity.cert))}}
  end

  defp stand_in(claim, _stand_ins), do: claim

  defp client_cert(%{"request" => %{"client_certificate_der_b64" => base64}}) when base64 != nil,
    do: [client_cert: ":#{base64}:"]

  defp client_cert(_without), do: []

  defp find(context, id), do: Enum.find(context.cases, &(&1["id"] == id))

  defp load(file), do: decode(File.read!(Path.join(@fixtures, file)))

  defp decode(json) do
    {:ok, value} = BeamMCP.Native.decode(json)
    value
  end
end
