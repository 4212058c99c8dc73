defmodule BeamMCP.Connectome.NodeTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome.Node

  doctest Node

  @identities [
    {{:server, "srv"}, :server, :server, "srv/server"},
    {{:tool, "srv", "écho"}, :tool, :server, "srv/tool/écho"},
    {{:resource, "srv", "r://a"}, :resource, :server, "srv/resource/r:%2F%2Fa"},
    {{:prompt, "a/b", "p%"}, :prompt, :server, "a%2Fb/prompt/p%25"},
    {{:tool, "srv", "a%2Fb"}, :tool, :server, "srv/tool/a%252Fb"},
    {{:process, "srv", :worker}, :process, :server, "srv/process/worker"},
    {{:module, "srv", Foo.Bar}, :module, :module, "srv/module/Foo.Bar"},
    {{:module, "srv", :erl_mod}, :module, :module, "srv/module/:erl_mod"},
    {{:module, "srv", :"has space"}, :module, :module, ~s(srv/module/:"has space")},
    {{:module, "srv", {Foo.Bar, :run, 2}}, :module, :mfa, "srv/module/Foo.Bar/run/2"},
    {{:boundary, "srv", :application, :beam_mcp}, :module, :boundary,
     "srv/boundary/application/beam_mcp"},
    {{:boundary, "srv", :boundary_module, Foo}, :module, :boundary,
     "srv/boundary/boundary_module/Foo"},
    {{:module, "srv", {:erlang, :/, 2}}, :module, :mfa, "srv/module/:erlang/%2F/2"},
    {{:tool, "srv", "cafe\u0301"}, :tool, :server, "srv/tool/cafe\u0301"}
  ]

  test "ids of every identity, as the vectors have them" do
    vectors = File.read!("test/fixtures/connectome/node-ids.json")
    {:ok, vectors} = BeamMCP.Native.decode(vectors)
    assert Enum.map(vectors, & &1["id"]) == Enum.map(@identities, &elem(&1, 3))
    for {identity, _kind, _level, id} <- @identities, do: assert(Node.id(identity) == id)
  end

  test "a node is made of every identity, at the level that its shape means" do
    for {identity, kind, level, id} <- @identities do
      assert {:ok, %Node{id: ^id, kind: ^kind, level: ^level, labels: %{}}} =
               Node.new(kind: kind, level: level, identity: identity)
    end
  end

  test "an atom and a string name one node" do
    assert Node.id({:tool, "srv", :echo}) == Node.id({:tool, "srv", "echo"})
  end

  test "what is wrong is refused by name, the first found" do
    good = [kind: :tool, level: :server, identity: {:tool, "srv", "t"}, labels: %{}]

    for {options, refusal} <- [
          {%{}, {:invalid, :opts, %{}}},
          {[:kind], {:invalid, :opts, [:kind]}},
          {[colour: 1], {:unknown_key, :colour}},
          {Keyword.delete(good, :kind), {:missing, :kind}},
          {Keyword.delete(good, :identity), {:missing, :identity}},
          {Keyword.put(good, :kind, :gadget), {:invalid, :kind, :gadget}},
          {Keyword.put(good, :level, :cluster), {:invalid, :level, :cluster}},
          {Keyword.put(good, :labels, []), {:invalid, :labels, []}},
          {Keyword.put(good, :labels, 1..2), {:invalid, :labels, 1..2}}
        ] do
      assert Node.new(options) == {:error, refusal}
    end

    for identity <- [
          nil,
          {},
          {:tool},
          {:tool, "srv"},
          {:tool, :srv, "t"},
          {:tool, "srv", 1},
          {:prompt, "srv", "t"},
          {:module, "srv", Foo},
          {:tool, "srv", "t", "more"}
        ] do
      assert Node.new(Keyword.put(good, :identity, identity)) ==
               {:error, {:invalid, :identity, identity}}
    end
  end

  test "a shape that means another level is refused" do
    for {identity, level} <- [
          {{:module, "srv", Foo}, :mfa},
          {{:module, "srv", Foo}, :boundary},
          {{:module, "srv", {Foo, :run, 2}}, :module},
          {{:boundary, "srv", :application, :foo}, :module},
          {{:module, "srv", {Foo, :run, -1}}, :mfa}
        ] do
      assert Node.new(kind: :module, level: level, identity: identity) ==
               {:error, {:invalid, :identity, identity}}
    end
  end

  test "id/1 and new!/1 raise" do
    assert_raise ArgumentError, ~r/names no part/, fn -> apply(Node, :id, [{:server, :srv}]) end
    assert_raise ArgumentError, ~r/:missing, :kind/, fn -> Node.new!([]) end
  end
end
