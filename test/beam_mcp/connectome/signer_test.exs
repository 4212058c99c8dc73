defmodule BeamMCP.Connectome.SignerTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Declared, Signer}
  alias BeamMCP.Connectome.Signer.{Ed25519, Signature}

  # RFC 8032 §7.1, test 2.
  @key Base.decode16!("4CCD089B28FF96DA9DB6C346EC114E0F5B8A319F35ABA624DA8CF6ED4FB8A6FB")
  @public Base.decode16!("3D4017C3E843895A92B70AA74D1B7EBC9C982CCF2EC4968CC0CD55F12AF4660C")

  setup_all do
    {:ok, declared} = Declared.build(server: "s", modules: [])
    %{graph: declared.graph}
  end

  test "Ed25519 is that of the RFC" do
    assert Ed25519.public_key(@key) == @public
    assert {:ok, signature} = Ed25519.sign(<<0x72>>, key: @key)

    assert Base.encode16(signature) ==
             "92A009A9F0D4CAB8720E820B5F642540A2B27B5416503F8FB3762223EBDB69DA" <>
               "085AC1E43E15996E458F3613D0F11D8C387B2EAEB4302AEEB00D291612BB0C00"

    assert Ed25519.valid?(<<0x72>>, signature, @public)
    refute Ed25519.valid?(<<0x73>>, signature, @public)
    refute Ed25519.valid?(<<0x72>>, "short", @public)
  end

  test "a signature is over the canonical bytes that the options ask for", %{graph: graph} do
    options = [key: fn -> @key end, algorithm: :sha512, scheme: "ed25519", key_id: "k1"]

    assert {:ok,
            %Signature{algorithm: :sha512, signer: Ed25519, scheme: "ed25519", key_id: "k1"} =
              signed} = Signer.signature(graph, Ed25519, options)

    assert Ed25519.valid?(
             Connectome.encode!(graph, algorithm: :sha512),
             signed.signature,
             @public
           )
  end

  test "without a signer there is no signature", %{graph: graph} do
    assert Signer.signature(graph) == {:error, {:signer, :no_signer}}
  end

  test "what is no signer, key or signature is refused", %{graph: graph} do
    defmodule Wrong do
      def sign(_bytes, _options), do: {:ok, :signed}
    end

    for {signer, options, reason} <- [
          {Enum, [], {:not_a_signer, Enum}},
          {"x", [], {:not_a_signer, "x"}},
          {Wrong, [], {:not_a_signature, {:ok, :signed}}},
          {Ed25519, [], {:missing, :key}},
          {Ed25519, [key: "short"], :key}
        ] do
      assert Signer.signature(graph, signer, options) == {:error, {:signer, reason}}
    end

    assert Signer.signature(graph, Ed25519, algorithm: :md5) ==
             {:error, {:invalid, :algorithm, :md5}}
  end
end
