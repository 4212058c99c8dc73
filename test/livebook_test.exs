defmodule BeamMCP.LivebookTest do
  # The notebook's code, with stand-ins for the libraries that it installs: nothing is fetched here.
  # By hand it has run with Kino 0.17 and Jason 1.4 themselves, and Mermaid drew what it wrote.
  use ExUnit.Case, async: false

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Declared, Diff, Graph, Part}
  alias BeamMCP.Fixture.Declared, as: Fixture

  @stand_ins """
  defmodule Kino.Mermaid do
    def new(text), do: {:mermaid, text}
  end

  defmodule Kino.DataTable do
    def new(rows, name: name), do: {:table, name, rows}
  end

  defmodule Jason do
    def decode!(json) do
      {:ok, value} = BeamMCP.Native.decode(json)
      value
    end
  end
  """

  setup_all do
    Code.compile_string(@stand_ins)
    folder = Path.join(System.tmp_dir!(), "beam_mcp-#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)
    System.put_env("CONNECTOME_FOLDER", folder)

    on_exit(fn ->
      System.delete_env("CONNECTOME_FOLDER")
      File.rm_rf!(folder)
    end)

    {:ok, %{graph: declared}} =
      Declared.build(server: "s", modules: Fixture.modules(), catalog: Fixture.Catalog)

    observed = observed()
    {:ok, diff} = Diff.run(declared, observed, window: %{})
    {:ok, weights} = Connectome.sidecar(observed)
    {:ok, record} = Diff.encode(diff)

    for {name, bytes} <- [
          {"declared.json", Connectome.encode!(declared)},
          {"observed.json", Connectome.encode!(observed)},
          {"weights.json", weights},
          {"diff.json", record}
        ],
        do: File.write!(Path.join(folder, name), bytes)

    %{declared: declared}
  end

  test "draws the exports alone", %{declared: declared} do
    {values, _bindings} = Enum.map_reduce(blocks(), [], &Code.eval_string/2)
    [_files, digests, can, did, difference, classes, coverage] = values

    assert {:table, "Digests", [%{file: "declared.json", digest: digest} | _others]} = digests
    assert digest == Connectome.digest!(declared)

    assert {:mermaid, "flowchart LR\n" <> drawn} = can
    assert drawn =~ ~s(["echo"])
    assert {:mermaid, seen} = did
    assert seen =~ ~s(-->|"×3"|)
    assert {:mermaid, compared} = difference
    assert compared =~ "==>"
    assert compared =~ "-.->"
    assert {:table, "Edges by class", [%{"class" => "observed_but_undeclared"} | _]} = classes
    assert {:table, "Coverage", [_ | _]} = coverage
  end

  defp observed do
    server = {:server, "s"}
    tools = for tool <- ["echo", "probe"], do: {:tool, "s", tool}

    Graph.new!(
      schema_version: 3,
      nodes: Enum.map([server | tools], &Part.node/1),
      edges: for(tool <- tools, do: %{Part.edge(server, tool, :invoke, :observed) | weight: 3})
    )
  end

  # All but the one that installs.
  defp blocks do
    notebook = File.read!("livebooks/connectome.livemd")
    [_install | blocks] = Regex.scan(~r/```elixir\n(.*?)```/s, notebook, capture: :all_but_first)
    Enum.map(blocks, &hd/1)
  end
end
