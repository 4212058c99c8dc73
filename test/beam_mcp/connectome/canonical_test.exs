defmodule BeamMCP.Connectome.CanonicalTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Canonical, Graph}

  @graph %Graph{schema_version: 3, nodes: [], edges: []}
  @refused %Graph{schema_version: 4, nodes: [], edges: []}

  test "the earlier names answer what the new ones do" do
    bytes = Connectome.encode!(@graph)
    assert Canonical.encode(@graph) == {:ok, bytes}
    assert Canonical.encode!(@graph) == bytes
    assert Canonical.hash_hex(@graph) == Connectome.digest(@graph)
    assert Canonical.hash_hex!(@graph) == Connectome.digest!(@graph)
    assert Canonical.sidecar(@graph) == Connectome.sidecar(@graph)
    assert Canonical.encode_value(%{a: 1}) == {:ok, ~s({"a":1})}
    assert Canonical.encode(@graph, algorithm: :md5) == {:error, {:invalid, :algorithm, :md5}}
  end

  test "digests are bytes where they were" do
    sha512 = Connectome.encode!(@graph, algorithm: :sha512)
    assert Canonical.hash(@graph, algorithm: :sha512) == {:ok, :crypto.hash(:sha512, sha512)}
    assert Canonical.hash!(@graph) == :crypto.hash(:sha256, Connectome.encode!(@graph))
    assert Canonical.hash_value(%{}) == {:ok, :crypto.hash(:sha256, "{}")}

    refusal = {:uncanonical, {:invalid_graph, {:invalid, :schema_version, 4}}}
    assert Canonical.hash(@refused) == {:error, refusal}
    assert_raise ArgumentError, ~r/the graph is refused/, fn -> Canonical.hash!(@refused) end
  end
end
