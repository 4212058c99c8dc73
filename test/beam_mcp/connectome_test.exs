defmodule BeamMCP.ConnectomeTest do
  use ExUnit.Case, async: true

  alias BeamMCP.{Connectome, ConnectomeVectors}
  alias BeamMCP.Connectome.{Edge, Graph, Node}

  doctest Connectome

  for vector <- ConnectomeVectors.read("graphs") do
    test "bytes of #{vector["name"]}" do
      vector = unquote(Macro.escape(vector))
      graph = ConnectomeVectors.graph(vector["input"])
      {:ok, index} = Graph.index(graph)

      for {name, expected} <- vector["expect"], source <- [graph, index] do
        algorithm = String.to_existing_atom(name)
        assert {:ok, bytes} = Connectome.encode(source, algorithm: algorithm)
        assert bytes == expected["bytes_utf8"]
        assert byte_size(bytes) == expected["length"]
        assert Connectome.digest(source, algorithm: algorithm) == {:ok, expected["digest"]}
      end

      assert Connectome.encode!(graph) == ConnectomeVectors.bytes(vector["name"])
    end
  end

  for vector <- ConnectomeVectors.read("refusals") do
    test "refusal of #{vector["name"]}" do
      vector = unquote(Macro.escape(vector))
      graph = ConnectomeVectors.graph(vector["input"])
      assert {:error, {:uncanonical, refusal}} = Connectome.encode(graph)
      assert Connectome.digest(graph) == {:error, {:uncanonical, refusal}}
      assert Connectome.sidecar(graph) == {:error, {:uncanonical, refusal}}
      assert named?(refusal, vector["refused"])
    end
  end

  for vector <- ConnectomeVectors.read("sidecars") do
    test "weights of #{vector["name"]}" do
      vector = unquote(Macro.escape(vector))
      graph = ConnectomeVectors.graph(vector["input"])
      assert Connectome.sidecar(graph) == {:ok, vector["bytes_utf8"]}
    end
  end

  test "floats are written as the vectors have them" do
    node = %Node{id: "s", kind: :server, level: :server}
    edge = %Edge{from: "s", to: "s", kind: :invoke, provenance: :observed}

    # The vectors have negative ones too, which are no weights.
    for %{"float_hex" => hexadecimal, "text" => text} <- ConnectomeVectors.read("floats"),
        float = ConnectomeVectors.float(hexadecimal),
        float >= 0 do
      graph = %Graph{schema_version: 3, nodes: [node], edges: [%{edge | weight: float}]}
      assert {:ok, sidecar} = Connectome.sidecar(graph)
      assert sidecar =~ ~s("weight":#{text}}])
    end
  end

  test "the fixture of 9,935 edges" do
    vector = ConnectomeVectors.read("large")
    graph = ConnectomeVectors.large()
    assert {length(graph.nodes), length(graph.edges)} == {vector["nodes"], vector["edges"]}
    assert byte_size(Connectome.encode!(graph)) == vector["length"]
    assert Connectome.digest!(graph) == vector["sha256"]
  end

  test "a graph is written in another version on request" do
    edge = %Edge{from: "s", to: "s", kind: :invoke, provenance: :declared}
    node = %Node{id: "s", kind: :server, level: :server}
    graph = &Graph.new!(schema_version: &1, nodes: [node], edges: [%{edge | sign: &2}])

    in_version_1 = Connectome.encode(graph.(3, :unset), schema_version: 1)
    assert in_version_1 == Connectome.encode(graph.(1, :unknown))

    for {source, version, sign} <- [
          {graph.(3, :ungoverned), 1, :ungoverned},
          {graph.(1, :unknown), 3, :unknown}
        ] do
      assert Connectome.encode(source, schema_version: version) ==
               {:error, {:uncanonical, {:invalid_graph, {:invalid, :sign, sign}}}}
    end
  end

  test "options are refused by name" do
    graph = Graph.new!(schema_version: 3, nodes: [], edges: [])

    for {options, refusal} <- [
          {[algorithm: :md5], {:invalid, :algorithm, :md5}},
          {[algorithm: "sha256"], {:invalid, :algorithm, "sha256"}},
          {[schema_version: 4], {:invalid, :schema_version, 4}},
          {[colour: 1], {:unknown_key, :colour}},
          {:sha256, {:invalid, :opts, :sha256}}
        ] do
      assert Connectome.encode(graph, options) == {:error, refusal}
      assert Connectome.digest(graph, options) == {:error, refusal}
    end

    assert_raise ArgumentError, ~r/:md5/, fn -> Connectome.encode!(graph, algorithm: :md5) end
  end

  test "labels are maps of terms" do
    labels = %{
      :mode => :read_only,
      "list" => [nil, true, :"Elixir.Foo", -(10 ** 30)],
      "map" => %{1 => :no_key}
    }

    node = %Node{id: "s", kind: :server, level: :server, labels: labels}
    graph = &Graph.new!(schema_version: 3, nodes: [%{node | labels: &1}], edges: [])

    assert Connectome.encode(graph.(labels)) ==
             {:error, {:uncanonical, {:label_value, "s", "map", %{1 => :no_key}}}}

    assert Connectome.encode!(graph.(Map.delete(labels, "map"))) =~
             ~s("labels":{"list":[null,true,"Elixir.Foo",-1#{String.duplicate("0", 30)}],"mode":"read_only"})

    for value <- [1.0, {1}, self(), make_ref(), &inspect/1, 1..2, [1 | 2], <<1::1>>] do
      assert Connectome.encode(graph.(%{v: value})) ==
               {:error, {:uncanonical, {:label_value, "s", "v", value}}}
    end
  end

  test "labels are nested as deep as the page says, and no deeper" do
    nested = &Enum.reduce(1..&1, [], fn _level, inner -> [inner] end)
    node = &%Node{id: "s", kind: :server, level: :server, labels: %{v: &1}}
    graph = &Graph.new!(schema_version: 3, nodes: [node.(&1)], edges: [])

    bytes = Connectome.encode!(graph.(nested.(128)))
    assert {:ok, graph_again} = Connectome.decode(bytes)
    assert Connectome.encode!(graph_again) == bytes

    for deep <- [nested.(129), nested.(100_000)] do
      assert Connectome.encode(graph.(deep)) ==
               {:error, {:uncanonical, {:label_value, "s", "v", deep}}}
    end
  end

  for vector <- ConnectomeVectors.read("envelopes") do
    test "the envelope #{vector["name"]}" do
      vector = unquote(Macro.escape(vector))
      bytes = vector["bytes_utf8"]
      digest = vector["digest"]

      case {vector["outcome"], Connectome.verify(bytes, digest: digest)} do
        {"verify", {:ok, verified}} ->
          assert to_string(verified.algorithm) == vector["digest_algorithm"]
          assert {:ok, graph} = Connectome.decode(bytes)
          assert Connectome.encode(graph, algorithm: verified.algorithm) == {:ok, bytes}

        {"malformed", refused} ->
          assert {:error, {:malformed, _text}} = refused

        {"refuse", refused} ->
          assert {:error, {:malformed, text}} = refused
          assert text =~ "parts"

        {"digest verifies, record refused" <> _why, refused} ->
          assert refused ==
                   {:error, {:uncanonical, {:invalid_graph, {:invalid, :sign, "unknown"}}}}
      end
    end
  end

  test "bytes that are not what they say are refused" do
    bytes = ConnectomeVectors.bytes("one-tool-v3")
    digest = "a401cd47f0f0410d17248538eb8a3ef00018f6a31bf6fb6a7b9b0ba3377f570e"
    assert {:ok, %{digest: ^digest}} = Connectome.verify(bytes)
    changed = &String.replace(bytes, &1, &2)

    for {held, options, refusal} <- [
          {bytes, [digest: "00"], {:digest_mismatch, digest}},
          {changed.("{}", "{ }"), [], {:not_canonical, 93}},
          {changed.("version\":3", "version\":9"), [], {:invalid, :schema_version, 9}},
          {changed.("tool/t", "server"), [],
           {:uncanonical, {:invalid_graph, {:duplicate_node, "s/server"}}}},
          {changed.("\"read_only\"", "1.0"), [],
           {:uncanonical, {:label_value, "s/tool/t", "mode", 1.0}}},
          {changed.("declared", "both"), [],
           {:uncanonical, {:invalid_graph, {:invalid, :provenance, "both"}}}},
          {bytes, [digest: 1], {:invalid, :digest, 1}},
          {bytes, [digests: 1], {:unknown_key, :digests}}
        ] do
      assert Connectome.verify(held, options) == {:error, refusal}
    end

    for text <- ["", "[]", "{", "\"x\"", ~s({"schema_version":3})] do
      assert {:error, {:malformed, _text}} = Connectome.verify(text)
    end
  end

  test "exports for people and tools" do
    labels = %{"q\"" => "a\\b", "n" => %{"x" => [1]}}
    node = %Node{id: "s", kind: :server, level: :server, labels: labels}
    edge = %Edge{from: "s", to: "s", kind: :invoke, provenance: :declared, weight: 7}
    graph = Graph.new!(schema_version: 3, nodes: [node], edges: [edge])

    assert Connectome.dot(graph) ==
             {:ok,
              ~S"""
              digraph connectome {
                "s" ["kind"="server", "level"="server", "label_n"="{\"x\":[1]}", "label_q\""="a\\b"];
                "s" -> "s" ["kind"="invoke", "provenance"="declared", "sign"="unset"];
              }
              """}

    assert {:ok, graphml} = Connectome.graphml(graph)
    assert graphml =~ ~s(<key id="l1" for="node" attr.name="q&quot;" attr.type="string"/>)
    assert graphml =~ ~s(<data key="l0">{&quot;x&quot;:[1]}</data>)
    refute graphml =~ "7"

    graph = Graph.new!(schema_version: 3, nodes: [%{node | labels: %{v: <<0>>}}], edges: [])
    assert Connectome.graphml(graph) == {:error, {:uncanonical, {:not_xml, "s", 0}}}
  end

  test "a value on its own follows the rules of labels" do
    assert Connectome.digest_value(%{}) ==
             {:ok, Base.encode16(:crypto.hash(:sha256, "{}"), case: :lower)}

    assert {:ok, _digest} = Connectome.digest_value(%{algorithm: "sha384"}, algorithm: :sha384)

    for {value, options, refusal} <- [
          {%{algorithm: :sha384}, [], {:invalid, :algorithm, :sha384}},
          {%{}, [schema_version: 1], {:unknown_key, :schema_version}},
          {[], [], {:uncanonical, {:label_value, "record", :record, []}}},
          {%{a: 1.5}, [], {:uncanonical, {:label_value, "record", :record, %{a: 1.5}}}}
        ] do
      assert Connectome.digest_value(value, options) == {:error, refusal}
    end
  end

  # A vector names a refusal up to what differs between implementations.
  defp named?(refusal, ["invalid_graph", reason]) do
    {:invalid_graph, found} = refusal
    starts_with?(found, reason)
  end

  defp named?(refusal, expected), do: starts_with?(refusal, expected)

  defp starts_with?(refusal, [name | details]) do
    [found | rest] = Tuple.to_list(refusal)
    expected = Enum.map(details, &ConnectomeVectors.value/1)
    to_string(found) == name and Enum.map(Enum.take(rest, length(details)), &plain/1) == expected
  end

  defp plain(atom) when is_atom(atom) and atom not in [nil, true, false], do: to_string(atom)
  defp plain(other), do: other
end
