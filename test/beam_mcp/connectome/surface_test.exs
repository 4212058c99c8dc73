defmodule BeamMCP.Connectome.SurfaceTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Declared, Observed, Surface}
  alias BeamMCP.Fixture.Declared, as: Fixture
  alias BeamMCP.Native
  alias BeamMCP.Test, as: MCP

  setup context do
    seen = Module.concat(__MODULE__, "C#{System.unique_integer([:positive])}")
    name = {__MODULE__, context.test}
    start_supervised!({Observed, name: seen, instances: [name], keep_ms: 0})
    build = [server: "fx", modules: Fixture.modules(), catalog: Fixture.Catalog]
    %{name: name, seen: seen, build: build}
  end

  defp client(context, options) do
    resources = for resource <- Surface.resources(options), do: {:resource, resource}

    MCP.start!(
      name: context.name,
      server_name: "fx",
      registrations: [{:tool, Surface.tool(options)} | resources]
    )
  end

  defp read(client, which) do
    {:ok, %{"contents" => [contents]}} = MCP.read_resource(client, "connectome://#{which}")
    assert contents["mimeType"] == "application/json"
    contents["text"]
  end

  test "what is listed answers canonical bytes", context do
    client = client(context, declared: context.build, observed: context.seen)
    {:ok, declared} = Declared.build(context.build)
    assert read(client, :declared) == Connectome.encode!(declared.graph)

    # Reading is observed, this one included.
    assert {:ok, %{digest: _}} = Connectome.verify(read(client, :observed))
    {:ok, graph} = Observed.snapshot(context.seen)

    assert Enum.map(graph.edges, &{&1.to, &1.weight}) == [
             {"fx/resource/connectome:%2F%2Fdeclared", 1},
             {"fx/resource/connectome:%2F%2Fobserved", 1}
           ]

    assert {:ok, %{"classes" => %{"declared_and_observed" => []}}} =
             Native.decode(read(client, :diff))
  end

  test "the tool answers with a digest under the algorithm's name", context do
    {:ok, %{graph: graph}} = Declared.build(context.build)
    client = client(context, declared: graph, algorithm: :sha384)
    {:ok, answer} = MCP.call_tool(client, "connectome", %{"graph" => "declared"})

    assert answer["structuredContent"] == %{
             "graph" => "declared",
             "bytes" => Connectome.encode!(graph, algorithm: :sha384),
             "sha384" => Connectome.digest!(graph, algorithm: :sha384)
           }
  end

  test "what the options do not name is not there", context do
    assert Enum.map(Surface.resources(observed: context.seen), & &1.name) == [
             "connectome-observed"
           ]

    assert Surface.resources([]) == []
    client = client(context, observed: context.seen)
    {:ok, %{"isError" => true}} = MCP.call_tool(client, "connectome", %{"graph" => "diff"})
    assert Surface.bytes(:diff, observed: context.seen) == {:error, {:missing, :declared}}
    assert_raise ArgumentError, ~r/unknown option sign/, fn -> Surface.resources(sign: :deny) end
  end

  test "who may not read it learns of no part", context do
    {:ok, %{graph: graph}} = Declared.build(context.build)
    options = [declared: graph, required_scopes: ["connectome"]]
    client(context, options)
    methods = ~w(mcp:tools:call mcp:resources:read)
    stranger = MCP.connect!(context.name, scopes: methods)
    reader = MCP.connect!(context.name, scopes: ["connectome" | methods])

    for {ask, name} <- [
          {&MCP.read_resource/2, "connectome://declared"},
          {&MCP.call_tool(&1, &2, %{"graph" => "declared"}), "connectome"}
        ] do
      assert {:error, %{code: -31_403}} = ask.(stranger, name)
      assert {:ok, _graph} = ask.(reader, name)
    end
  end

  test "a window of the host's goes into the difference", context do
    {:ok, %{graph: graph}} = Declared.build(context.build)
    options = [declared: graph, observed: context.seen, window: %{"night" => 7}]
    assert {:ok, bytes} = Surface.bytes(:diff, options)
    assert bytes =~ ~s("window":{"night":7}})
  end

  test "why something cannot be answered is told the log, not the client", context do
    client = client(context, observed: No.Such.Collector)

    assert {:error, %{message: "The observed connectome is not available."}} =
             MCP.read_resource(client, "connectome://observed")
  end
end
