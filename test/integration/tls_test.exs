defmodule BeamMCP.TLSTest do
  # A listener that speaks TLS, as clients of another TLS library meet it.
  use ExUnit.Case, async: false

  alias BeamMCP.{Error, Listener, Native}
  alias BeamMCP.Test.{Certificates, RawHTTP, Wire}

  @moduletag :integration
  @moduletag :tmp_dir
  @moduletag :capture_log

  setup_all do
    {:ok, authority: Certificates.authority()}
  end

  setup %{tmp_dir: folder, authority: authority} do
    files = authority |> Certificates.issue("localhost") |> Certificates.write(folder)
    {:ok, files: files}
  end

  describe "a connection" do
    test "has TLS 1.2 or 1.3 and HTTP/1.1, and the listener is https", context do
      port = start(tls: context.files)
      assert [listener] = BeamMCP.info!(__MODULE__).listeners
      assert Listener.url(listener) == "https://127.0.0.1:#{port}/mcp"
      assert inspect(listener) == "#BeamMCP.Listener<https://127.0.0.1:#{port}/mcp>"

      for version <- Certificates.versions() do
        {:ok, socket} =
          Certificates.connect(port, context.authority,
            versions: [version],
            alpn_advertised_protocols: ["http/1.1"]
          )

        assert :ssl.negotiated_protocol(socket) == {:ok, "http/1.1"}
        for _ <- 1..2, do: assert(RawHTTP.call(socket, "echo", ~s({"text":"hi"})).status == 200)
        :ssl.close(socket)
      end
    end

    test "has no older version, and is not plain", context do
      port = start(tls: context.files)

      assert {:error, {:tls_alert, {alert, _text}}} =
               Certificates.connect(port, context.authority, versions: [:"tlsv1.1"])

      assert alert in [:protocol_version, :handshake_failure]

      plain = RawHTTP.connect(port)
      RawHTTP.write(plain, "GET", "/mcp", [])
      assert {:ok, <<21, _alert::binary>>} = :gen_tcp.recv(plain, 0, 2_000)
    end

    test "closes after header_timeout_ms without a handshake, and keeps nobody waiting",
         context do
      port = start(tls: context.files, header_timeout_ms: 700)
      silent = for _ <- 1..50, do: RawHTTP.connect(port)
      assert call(port, context).status == 200
      for socket <- silent, do: assert(RawHTTP.closed?(socket))
      assert call(port, context).status == 200
    end

    test "is told of in the request of a hook", context do
      test = self()
      hook = fn request -> send(test, request) && :ok end
      port = start(tls: [client_certificates: :requested] ++ context.files, authorize: hook)
      assert call(port, context).status == 200
      assert_receive %{tls: %{version: :"tlsv1.3", client_thumbprint: nil}} = request
      refute inspect(request) =~ "mcp-protocol-version"

      client = Certificates.issue(context.authority, "client")
      oldest = hd(Certificates.versions())
      assert call(port, context, identity: client, versions: [oldest]).status == 200
      assert_receive %{tls: %{version: ^oldest, client_thumbprint: thumbprint}}
      digest = :crypto.hash(:sha256, client.cert)
      assert thumbprint == Base.url_encode64(digest, padding: false)
    end

    test "makes an origin of the same host https", context do
      port = start(tls: context.files)
      {:ok, socket} = Certificates.connect(port, context.authority)
      own = [origin: "https://127.0.0.1:#{port}"]
      assert RawHTTP.call(socket, "echo", ~s({"text":"hi"}), headers: own).status == 200
      foreign = [origin: "http://127.0.0.1:#{port}"]
      assert RawHTTP.call(socket, "echo", ~s({"text":"hi"}), headers: foreign).status == 403
    end
  end

  describe "client certificates" do
    test "that are required are of the authorities that were named", context do
      root = Certificates.write_root(context.authority, context.tmp_dir)
      port = start(tls: [client_certificates: :required, cacertfile: root] ++ context.files)
      own = Certificates.issue(context.authority, "client")
      foreign = Certificates.issue(Certificates.authority(), "client")
      assert call(port, context, identity: own).status == 200

      for identity <- [nil, foreign], version <- Certificates.versions() do
        options = [identity: identity, versions: [version]]

        # A client of TLS 1.3 is told after its own handshake.
        refused =
          with {:ok, socket} <- Certificates.connect(port, context.authority, options),
               do: :ssl.recv(socket, 0, 5_000)

        assert match?({:error, {:tls_alert, _alert}}, refused) or refused == {:error, :closed}
      end
    end
  end

  describe "reload_tls" do
    test "shows new connections what was renewed; old ones go on", context do
      port = start(tls: context.files)
      {:ok, old} = Certificates.connect(port, context.authority)
      renewed = Certificates.issue(context.authority, "localhost")
      Certificates.write(renewed, context.tmp_dir)
      {:ok, before} = Certificates.connect(port, context.authority)
      assert {:ok, first} = :ssl.peercert(before)
      assert first != renewed.cert

      assert BeamMCP.reload_tls(__MODULE__) == :ok
      {:ok, new} = Certificates.connect(port, context.authority)
      assert :ssl.peercert(new) == {:ok, renewed.cert}
      assert RawHTTP.call(old, "echo", ~s({"text":"hi"})).status == 200
    end

    test "leaves everything as it is when a file is wrong", context do
      port = start(tls: context.files)
      File.write!(context.files[:keyfile], "nothing")
      assert {:error, %Error{kind: :tls} = error} = BeamMCP.reload_tls(__MODULE__)

      assert Exception.message(error) =~
               "keyfile: #{context.files[:keyfile]}: it holds no private key"

      assert call(port, context).status == 200
    end

    test "has nothing to do without TLS, and for no instance", _context do
      start([])
      assert BeamMCP.reload_tls(__MODULE__) == :ok
      assert {:error, %Error{kind: :not_running}} = BeamMCP.reload_tls(:none)
    end

    test "renews a listener that was opened apart", context do
      start_supervised!({BeamMCP, name: __MODULE__})
      options = [authorize: :none, allowed_origins: [], port: 0, tls: context.files]
      {:ok, listener} = Native.start_http([instance: __MODULE__] ++ options)
      renewed = Certificates.issue(context.authority, "localhost")
      Certificates.write(renewed, context.tmp_dir)
      assert Native.reload_tls(listener) == :ok
      {:ok, socket} = Certificates.connect(Listener.port(listener), context.authority)
      assert :ssl.peercert(socket) == {:ok, renewed.cert}
      Native.stop_http(listener)
    end

    test "outlives a crash of the listener's process", context do
      start(tls: context.files)
      renewed = Certificates.issue(context.authority, "localhost")
      Certificates.write(renewed, context.tmp_dir)
      assert BeamMCP.reload_tls(__MODULE__) == :ok
      File.write!(context.files[:keyfile], "nothing")
      [{pid, _listener}] = BeamMCP.Transport.HTTP.Server.all(__MODULE__)
      Process.exit(pid, :kill)
      port = reopened(pid)
      {:ok, socket} = Certificates.connect(port, context.authority)
      assert :ssl.peercert(socket) == {:ok, renewed.cert}
    end
  end

  # The port of the listener that took the place of a killed one.
  defp reopened(killed) do
    case BeamMCP.Transport.HTTP.Server.all(__MODULE__) do
      [{pid, listener}] when pid != killed ->
        Listener.port(listener)

      _not_yet ->
        Process.sleep(10)
        reopened(killed)
    end
  end

  defp start(http) do
    start_supervised!({BeamMCP, Wire.options(__MODULE__, http: http)})
    Wire.port(__MODULE__)
  end

  defp call(port, context, options \\ []) do
    {:ok, socket} = Certificates.connect(port, context.authority, options)
    response = RawHTTP.call(socket, "echo", ~s({"text":"hi"}))
    :ssl.close(socket)
    response
  end
end
