defmodule BeamMCP.Connectome.FederationTest do
  use ExUnit.Case, async: true

  alias BeamMCP.{Connectome, ConnectomeVectors}
  alias BeamMCP.Connectome.{Edge, Federation, Graph, Node}

  @server %Node{id: "s/server", kind: :server, level: :server}
  @tool %Node{id: "s/tool/t", kind: :tool, level: :server, labels: %{mode: :read_only, of: "x"}}
  @edge %Edge{from: "s/server", to: "s/tool/t", kind: :invoke, provenance: :declared}

  defp graph(tool, sign) do
    Graph.new!(schema_version: 3, nodes: [@server, tool], edges: [%{@edge | sign: sign}])
  end

  for vector <- ConnectomeVectors.read("federations") do
    test "the record of #{vector["name"]}" do
      vector = unquote(Macro.escape(vector))
      algorithm = String.to_existing_atom(vector["algorithm"])

      parts = for [member, graph] <- vector["parts"], do: {member, ConnectomeVectors.graph(graph)}

      {:ok, federation} = Federation.merge(parts, algorithm: algorithm)
      assert Federation.encode(federation, algorithm: algorithm) == {:ok, vector["bytes_utf8"]}
      assert Federation.digest(federation, algorithm: algorithm) == {:ok, vector["digest"]}
      assert {:ok, _verified} = Connectome.verify(vector["bytes_utf8"], digest: vector["digest"])
    end
  end

  test "parts keep their digests, ids are scoped, conflicts are listed" do
    left = graph(@tool, :allow)
    right = graph(%{@tool | labels: %{mode: :mutating, on: 1}}, :deny)
    {:ok, federation} = Federation.merge([{"b@h", right}, {"a/1", Connectome.encode!(left)}])

    assert federation.parts == [
             %{
               member: "a/1",
               schema_version: 3,
               algorithm: :sha256,
               digest: Connectome.digest!(left)
             },
             %{
               member: "b@h",
               schema_version: 3,
               algorithm: :sha256,
               digest: Connectome.digest!(right)
             }
           ]

    assert federation.conflicts == %{
             edges: [
               %{
                 from: "s/server",
                 to: "s/tool/t",
                 kind: :invoke,
                 claims: [
                   %{part: 0, provenance: :declared, sign: :allow},
                   %{part: 1, provenance: :declared, sign: :deny}
                 ]
               }
             ],
             nodes: [
               %{
                 id: "s/tool/t",
                 field: {:label, "mode"},
                 claims: [%{part: 0, value: "read_only"}, %{part: 1, value: "mutating"}]
               }
             ]
           }

    {:ok, bytes} = Federation.encode(federation)

    assert bytes =~
             ~s({"id":"a%2F1/s/server","kind":"server","labels":{},"level":"server","part":0})

    assert {:ok, digest} = Federation.digest(federation)

    assert Connectome.verify(bytes, digest: digest) ==
             {:ok, %{schema_version: 4, algorithm: :sha256, digest: digest}}

    assert Connectome.decode(bytes) == {:error, {:invalid, :schema_version, 4}}
  end

  test "the order of parts decides nothing" do
    parts = [{"b", graph(@tool, :unset)}, {"a", graph(@tool, :unset)}]
    {:ok, one} = Federation.merge(parts)
    {:ok, other} = Federation.merge(Enum.reverse(parts))
    assert Federation.encode(one) == Federation.encode(other)
    assert one.conflicts == %{edges: [], nodes: []}
  end

  test "a part that was changed on the way is found" do
    {:ok, federation} = Federation.merge([{"a", graph(@tool, :allow)}])
    {:ok, bytes} = Federation.encode(federation, algorithm: :sha512)
    [%{digest: digest}] = federation.parts

    forged = String.replace(bytes, ~s("sign":"allow"), ~s("sign":"deny"))
    assert {:error, {:part_digest, "a", other}} = Connectome.verify(forged)
    assert other == Connectome.digest!(graph(@tool, :deny)) and other != digest

    elsewhere = String.replace(bytes, ~s("id":"a/), ~s("id":"b/))

    assert {:error, {:uncanonical, {:invalid_graph, {:invalid, :id, "b/s/server"}}}} =
             Connectome.verify(elsewhere)

    unlisted = String.replace(bytes, ~s("part":0), ~s("part":1))

    assert {:error, {:uncanonical, {:invalid_graph, {:invalid, :part, 1}}}} =
             Connectome.verify(unlisted)
  end

  test "what is wrong is refused by name" do
    graph = graph(@tool, :unset)
    bytes = Connectome.encode!(graph)

    for {parts, refusal} <- [
          {[{"", graph}], {:invalid, :member, ""}},
          {[{<<255>>, graph}], {:invalid, :member, <<255>>}},
          {[{:a, graph}], {:invalid, :member, :a}},
          {[graph], {:invalid, :part, graph}},
          {[{"a", graph}, {"a", bytes}], {:duplicate_part, "a"}},
          {[{"a", bytes <> " "}], {:part, "a", {:not_canonical, byte_size(bytes)}}},
          {[{"a", %{graph | nodes: []}}], {:part, "a", {:dangling_edge, "s/server"}}}
        ] do
      assert Federation.merge(parts) == {:error, refusal}
    end

    assert Federation.merge([], algorithm: :md5) == {:error, {:invalid, :algorithm, :md5}}
  end
end
