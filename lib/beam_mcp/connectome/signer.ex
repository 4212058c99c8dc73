defmodule BeamMCP.Connectome.Signer do
  @moduledoc """
  Whoever signs canonical bytes. BeamMCP signs nothing by itself and keeps no key: a host names a
  module with this callback and hands it what it needs with every call.

      {:ok, signature} =
        BeamMCP.Connectome.Signer.signature(graph, BeamMCP.Connectome.Signer.Ed25519,
          key: &MyApp.Vault.connectome_key/0,
          scheme: "ed25519",
          key_id: "2026-10"
        )

  A signature stands beside the bytes, never inside them. `scheme` (`ed25519`, `ecdsa_p384_sha384`,
  `mldsa87`) and `key_id` are copied as the host asserts them; nobody checks them here.
  """

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.Signer.{None, Signature}
  alias BeamMCP.Handler

  @doc "Signs the bytes. `options` are those of `signature/3`, whatever they are."
  @callback sign(canonical_bytes :: binary(), options :: keyword()) ::
              {:ok, binary()} | {:error, term()}

  @typedoc "Why there is no signature."
  @type refusal ::
          Connectome.refusal()
          | {:signer, {:not_a_signer, term()} | {:not_a_signature, term()} | term()}

  @doc """
  Encodes the graph (of `options` it reads `:algorithm`, `:scheme` and `:key_id`) and has `signer`
  sign the bytes; all options go to the signer too.

  Returns what `BeamMCP.Connectome.encode/2` refuses, and `{:signer, reason}`: the signer's own
  reason, `{:not_a_signer, module}` for a module without the callback, `{:not_a_signature, value}`
  for an answer that is none.
  """
  @spec signature(Connectome.source(), module(), keyword()) ::
          {:ok, Signature.t()} | {:error, refusal()}
  def signature(source, signer \\ None, options \\ []) do
    with {:ok, bytes} <- Connectome.encode(source, Keyword.take(options, [:algorithm])),
         {:ok, signature} <- sign(signer, bytes, options) do
      {:ok,
       %Signature{
         algorithm: Keyword.get(options, :algorithm, :sha256),
         signature: signature,
         signer: signer,
         scheme: options[:scheme],
         key_id: options[:key_id]
       }}
    end
  end

  defp sign(signer, bytes, options) do
    if is_atom(signer) and Handler.exports?(signer, :sign, 2) do
      signed(signer.sign(bytes, options))
    else
      {:error, {:signer, {:not_a_signer, signer}}}
    end
  end

  defp signed({:ok, signature}) when is_binary(signature), do: {:ok, signature}
  defp signed({:error, reason}), do: {:error, {:signer, reason}}
  defp signed(other), do: {:error, {:signer, {:not_a_signature, other}}}
end
