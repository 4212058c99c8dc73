defmodule BeamMCP.TLSOptionsTest do
  # What is refused before anything opens. test/integration/tls_test.exs has what is served.
  use ExUnit.Case, async: true

  alias BeamMCP.{Config, Listener, TLS}
  alias BeamMCP.Test.Certificates

  @moduletag :tmp_dir

  @resource "https://mcp.example.com/mcp"
  @issuer [issuer: "https://auth.example.com", keys: {:jwks_uri, "https://auth.example.com/jwks"}]

  setup_all do
    {:ok, authority: Certificates.authority()}
  end

  setup %{tmp_dir: folder, authority: authority} do
    {:ok, files: authority |> Certificates.issue("localhost") |> Certificates.write(folder)}
  end

  test "files that belong together make the listener https", context do
    assert [%{tls: %TLS{client_certificates: :off} = tls} = http] =
             config(tls: context.files).http

    listener = Listener.new(nil, {:tcp, {127, 0, 0, 1}, 443}, http)
    assert Listener.url(listener) == "https://127.0.0.1:443/mcp"
    assert inspect(tls) == "#BeamMCP.TLS<client_certificates: :off, ...>"
  end

  test "a file that cannot be used is named with what is wrong", context do
    [certfile: certfile, keyfile: keyfile] = context.files
    other = context.authority |> Certificates.issue("localhost")
    [certfile: _certfile, keyfile: other] = Certificates.write(other, context.tmp_dir, "other")
    missing = Path.join(context.tmp_dir, "missing.pem")

    for {files, expected} <- [
          {[certfile: missing], "certfile: #{missing}: No such file"},
          {[certfile: keyfile], "certfile: #{keyfile}: it holds no certificate"},
          {[keyfile: certfile], "keyfile: #{certfile}: it holds no private key"},
          {[keyfile: other], "keyfile: #{other}: the key is not that of the certificate in"},
          {[client_certificates: :required, cacertfile: missing],
           "cacertfile: #{missing}: No such"},
          {[cacertfile: certfile], "cacertfile: clients are asked for no certificate"},
          {[client_certificates: true], "client_certificates: expected"},
          {[verify: :none], "unknown option http[0].tls.verify"}
        ] do
      message = message(tls: Keyword.merge(context.files, files))
      assert message =~ "http[0].tls."
      assert message =~ expected
    end

    assert message(tls: []) =~ "option http[0].tls.certfile is required"
    assert message(tls: true) =~ "option http[0].tls: expected a keyword list"
  end

  test "certificates are looked for where there can be some", context do
    asking = [client_certificates: :requested] ++ context.files
    assert [%{authorize: %{mtls: {:tls}}}] = config(protected([mtls: {:tls}], tls: asking)).http

    for tls <- [nil, context.files] do
      assert message(protected([mtls: {:tls}], tls: tls)) =~
               "option http[0].authorize.mtls: `{:tls}` takes certificates from the listener's own TLS"
    end
  end

  test "a trusted proxy has networks and a header" do
    networks = ["10.0.0.0/8", "::1", :unix]
    http = protected(mtls: {:trusted_proxy, networks, "X-Client-Cert"})

    assert [
             %{
               authorize: %{
                 mtls: {:trusted_proxy, ["10.0.0.0/8", "::1", "unix"], "x-client-cert"}
               }
             }
           ] = config(http).http

    for {mtls, expected} <- [
          {{:trusted_proxy, ["10.0.0.0/33"], "a"},
           ~s(authorize.mtls: "10.0.0.0/33" is no network)},
          {{:trusted_proxy, ["10.0.0.1/8"], "a"}, ~s("10.0.0.1/8" is no network)},
          {{:trusted_proxy, ["proxy.example"], "a"}, ~s("proxy.example" is no network)},
          {{:trusted_proxy, [], "a"}, "authorize.mtls: expected `{:tls}` or"},
          {{:trusted_proxy, ["::/0"], "a b"}, "authorize.mtls: expected"},
          {:tls, "authorize.mtls: expected"}
        ] do
      assert message(protected(mtls: mtls)) =~ expected
    end
  end

  test "the authorities of an issuer are read at start", %{tmp_dir: folder} = context do
    root = Certificates.write_root(context.authority, folder)
    assert %Config{} = config(protected(issuers: [@issuer ++ [cacertfile: root]]))

    assert message(protected(issuers: [@issuer ++ [cacertfile: folder <> "/none"]])) =~
             "option http[0].authorize.issuers[0].cacertfile: #{folder}/none: No such file"
  end

  test "what is inspected of a request shows no header and no query" do
    request = %BeamMCP.Request{
      method: "GET",
      path: "/mcp",
      query: "secret=1",
      headers: [{"client-cert", ":AQID:"}]
    }

    refute inspect(request) =~ ~r/secret|AQID/
  end

  defp protected(oauth, http \\ []) do
    oauth = Keyword.merge([resource: @resource, issuers: [@issuer]], oauth)
    [authorize: {:oauth, oauth}] ++ http
  end

  defp config(http) do
    Config.new!(name: :n, http: Keyword.merge([authorize: :none, allowed_origins: []], http))
  end

  defp message(http), do: assert_raise(ArgumentError, fn -> config(http) end).message
end
