defmodule BeamMCP.Connectome.Signer.Ed25519 do
  @moduledoc """
  The reference signer: Ed25519 (RFC 8032) with OTP's `:crypto`.

  The option `:key` is the private key of 32 octets, or a function without arguments that returns
  it. A function is the better choice: nothing that prints options or a stack trace prints a key.
  """

  @behaviour BeamMCP.Connectome.Signer

  @doc """
  Signs. Returns `{:error, {:missing, :key}}` without a key and `{:error, :key}` for one of another
  length; the key is never repeated.
  """
  @impl true
  def sign(bytes, options) do
    case key(options[:key]) do
      nil -> {:error, {:missing, :key}}
      <<key::binary-32>> -> {:ok, :crypto.sign(:eddsa, :none, bytes, [key, :ed25519])}
      _other -> {:error, :key}
    end
  end

  @doc "Whether `signature` is over these bytes, by the owner of the public key of 32 octets."
  @spec valid?(binary(), binary(), binary()) :: boolean()
  def valid?(bytes, <<signature::binary-64>>, <<public_key::binary-32>>),
    do: :crypto.verify(:eddsa, :none, bytes, signature, [public_key, :ed25519])

  def valid?(_bytes, _signature, _public_key), do: false

  @doc "The public key of a private one."
  @spec public_key(binary()) :: binary()
  def public_key(<<key::binary-32>>) do
    {public, _private} = :crypto.generate_key(:eddsa, :ed25519, key)
    public
  end

  defp key(key) when is_function(key, 0), do: key.()
  defp key(key), do: key
end
