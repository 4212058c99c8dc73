defmodule BeamMCP.ConnectomeExampleTest do
  # The example server of docs/connectome.md: what is declared and observed of it, and what the page
  # shows of the difference.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias BeamMCP.Connectome.Observed
  alias BeamMCP.Test, as: MCP
  alias BeamMCP.Test.Docs

  @name __MODULE__
  @seen __MODULE__.Seen

  setup do
    # Not beam_mcp-N, which the code path would take for BeamMCP itself.
    folder = Path.join(System.tmp_dir!(), "everything-#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)
    sources = Path.wildcard(Docs.path("examples/everything/lib/**/*.ex"))

    # Another test may have compiled one of them.
    capture_io(:stderr, fn ->
      {:ok, modules, _warnings} = Kernel.ParallelCompiler.compile_to_path(sources, folder)

      :ok =
        :application.load(
          {:application, :everything, vsn: ~c"0", modules: modules, mod: [], applications: []}
        )
    end)

    Code.prepend_path(folder)
    shell = Mix.shell()
    Mix.shell(Mix.Shell.Process)

    on_exit(fn ->
      Mix.shell(shell)
      Code.delete_path(folder)
      # Another test compiles one of them.
      for module <- Application.spec(:everything, :modules), do: :code.delete(module)
      Application.unload(:everything)
      File.rm_rf!(folder)
    end)

    %{at: &Path.join(folder, &1)}
  end

  test "the page shows what the task says", %{at: at} do
    start_supervised!({Observed, name: @seen, instances: [@name], keep_ms: 0})
    client = MCP.start!([name: @name] ++ apply(Everything, :options, []))
    use_it(client)

    declared =
      ~w(--server everything --app everything --catalog Everything.Catalog) ++
        ~w(--dispatch Everything.Tools.call)

    Mix.Tasks.BeamMcp.Connectome.run(
      ["declared" | declared] ++ ["--output", at.("declared.json")]
    )

    observed = ["--node", "#{node()}", "--collector", inspect(@seen)]

    Mix.Tasks.BeamMcp.Connectome.run(
      ["observed" | observed] ++ ["--output", at.("observed.json")]
    )

    files = ["--declared", at.("declared.json"), "--observed", at.("observed.json")]

    said =
      capture_io(fn ->
        assert catch_exit(Mix.Tasks.BeamMcp.Connectome.run(["diff" | files])) == {:shutdown, 1}
      end)

    [shown] = Docs.blocks("docs/connectome.md", ["text"])

    for line <- String.split(shown.text, "\n", trim: true), line != "…" do
      assert said =~ line <> "\n", "not said: #{line}\n\n#{said}"
    end
  end

  # Four calls, one of them of a tool that another tool has registered.
  defp use_it(client) do
    {:ok, _} = MCP.call_tool(client, "greet", %{name: "Ada"})
    {:ok, _} = MCP.call_tool(client, "add", %{a: 1, b: 2})
    {:ok, _} = MCP.call_tool(client, "test_trigger_tool_change")
    {:ok, _} = MCP.call_tool(client, "test_added_tool")
  end
end
