defmodule BeamMCP.Test.Certificates do
  @moduledoc "Certificates of an authority that exists for a test, and TLS connections that use them."

  @p256 {:namedCurve, {1, 2, 840, 10_045, 3, 1, 7}}

  # OTP writes the parameters of signatures with ECDSA wrongly (RFC 5758 §3.2), and from OTP 29 on those
  # with RSA too (RFC 4055 §5). Ed25519 has none, but OTP's own client reads it in TLS 1.3 alone.
  @otp_29? String.to_integer(System.otp_release()) >= 29
  @root_key if @otp_29?, do: {:namedCurve, {1, 3, 101, 112}}, else: {:rsa, 2_048, 65_537}
  @versions if @otp_29?, do: [:"tlsv1.3"], else: [:"tlsv1.2", :"tlsv1.3"]
  @subject_alt_name {2, 5, 29, 17}

  @typedoc "A certificate in DER with its key in DER."
  @type identity :: %{cert: binary(), key: {atom(), binary()}}

  @doc "The versions in which `connect/3` knows its certificates, oldest first."
  def versions, do: @versions

  @doc "An authority; `root` is its certificate in DER."
  def authority do
    root = :public_key.pkix_test_root_cert(~c"BeamMCP tests", key: @root_key, digest: :sha256)
    Map.put(root, :root, root.cert)
  end

  @doc "A certificate for a host name. Options: `:validity`, two dates."
  @spec issue(map(), String.t(), keyword()) :: identity()
  def issue(authority, name, options \\ []) do
    extension = {:Extension, @subject_alt_name, false, [dNSName: to_charlist(name)]}
    peer = [key: @p256, digest: :sha256, extensions: [extension]] ++ options
    chain = %{root: Map.take(authority, [:cert, :key]), intermediates: [], peer: peer}
    chain |> :public_key.pkix_test_data() |> Map.new() |> Map.take([:cert, :key])
  end

  @doc "Writes an identity into a folder; the options `certfile` and `keyfile`."
  def write(identity, folder, name \\ "server") do
    {type, key} = identity.key

    [
      certfile: pem(folder, "#{name}-cert.pem", [{:Certificate, identity.cert, :not_encrypted}]),
      keyfile: pem(folder, "#{name}-key.pem", [{type, key, :not_encrypted}])
    ]
  end

  @doc "Writes the certificate of an authority into a folder; the path."
  def write_root(authority, folder),
    do: pem(folder, "root.pem", [{:Certificate, authority.root, :not_encrypted}])

  @doc "Connects to a port of this machine. Options are those of `:ssl`, and `:identity`."
  def connect(port, authority, options \\ []) do
    {identity, options} = Keyword.pop(options, :identity)

    own = [
      :binary,
      active: false,
      verify: :verify_peer,
      cacerts: [authority.root],
      server_name_indication: ~c"localhost"
    ]

    :ssl.connect({127, 0, 0, 1}, port, Map.to_list(identity || %{}) ++ options ++ own, 5_000)
  end

  defp pem(folder, file, entries) do
    path = Path.join(folder, file)
    File.write!(path, :public_key.pem_encode(entries))
    path
  end
end
