defmodule Protected.Certificates do
  @moduledoc """
  A certificate for this machine, made anew at each start, and the authority that clients must trust for
  it: **for tests**.
  """

  @enforce_keys [:certfile, :keyfile, :cacertfile]
  defstruct @enforce_keys

  @typedoc "Paths of PEM files."
  @type t :: %__MODULE__{certfile: Path.t(), keyfile: Path.t(), cacertfile: Path.t()}

  # id-ce-subjectAltName (RFC 5280 §4.2.1.6).
  @subject_alt_name {2, 5, 29, 17}

  # The authority's key: its signatures have no parameters, which of others OTP 25 or OTP 29 gets wrong.
  @ed25519 {:namedCurve, {1, 3, 101, 112}}
  @p256 {:namedCurve, {1, 2, 840, 10_045, 3, 1, 7}}

  @doc "Makes both and writes them into a new folder that only this user reads."
  @spec make!(Path.t()) :: t()
  def make!(folder) do
    names = [iPAddress: <<127, 0, 0, 1>>, dNSName: String.to_charlist("localhost")]
    peer = [key: @p256, extensions: [{:Extension, @subject_alt_name, false, names}]]
    chain = %{root: [key: @ed25519], intermediates: [], peer: peer}
    made = :public_key.pkix_test_data(%{server_chain: chain, client_chain: chain})
    %{server_config: server, client_config: client} = made

    File.mkdir!(folder)
    File.chmod!(folder, 0o700)

    %__MODULE__{
      certfile: write!(folder, "certificate.pem", [certificate(server[:cert])]),
      keyfile: write!(folder, "key.pem", [key(server[:key])]),
      cacertfile: write!(folder, "authority.pem", Enum.map(client[:cacerts], &certificate/1))
    }
  end

  defp certificate(der), do: {:Certificate, der, :not_encrypted}
  defp key({type, der}), do: {type, der, :not_encrypted}

  defp write!(folder, name, entries) do
    path = Path.join(folder, name)
    File.write!(path, :public_key.pem_encode(entries))
    path
  end
end
