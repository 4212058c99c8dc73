defmodule Mix.Tasks.BeamMcp.ConnectomeTest do
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.Observed
  alias BeamMCP.Native
  alias Mix.Tasks.BeamMcp.Connectome, as: Task

  @fixture "BeamMCP.Fixture.Declared"
  @modules Enum.flat_map(
             ~w(Alpha Beta Catalog Dyn Gamma MacroOnly),
             &["--module", "#{@fixture}.#{&1}"]
           )
  @declared [
              "--server",
              "fx",
              "--catalog",
              @fixture <> ".Catalog",
              "--tool",
              "echo=#{@fixture}.Alpha"
            ] ++ @modules
  @published "def0ff39da579901a64abc26abec472b906bae71b159b70d59175aa99f13edbe"

  setup do
    shell = Mix.shell()
    Mix.shell(Mix.Shell.Process)
    folder = Path.join(System.tmp_dir!(), "beam_mcp-#{System.unique_integer([:positive])}")
    File.mkdir_p!(folder)

    on_exit(fn ->
      Mix.shell(shell)
      File.rm_rf!(folder)
    end)

    %{at: &Path.join(folder, &1)}
  end

  defp said do
    assert_received {:mix_shell, :info, [text]}
    text
  end

  defp fails(arguments), do: assert_raise(Mix.Error, fn -> Task.run(arguments) end).message

  defp write_declared(file, more \\ []) do
    Task.run(["declared" | @declared] ++ ["--output", file] ++ more)
    file
  end

  defp write_observed(file, tools, more \\ []) do
    Task.run(["observed" | here(tools)] ++ ["--output", file] ++ more)
    file
  end

  # The switches of a collector of this node that has seen a use of each tool.
  defp here(tools) do
    name = Module.concat(__MODULE__, "C#{System.unique_integer([:positive])}")
    start_supervised!({Observed, name: name, instances: []}, id: name)
    for tool <- tools, do: Observed.observe(name, {:server, "fx"}, {:tool, "fx", tool}, :invoke)
    ["--node", "#{node()}", "--collector", inspect(name)]
  end

  describe "declared" do
    test "writes canonical bytes, those of the published digest without reads", %{at: at} do
      path = write_declared(at.("d.json"), ["--no-read-edges"])
      Task.run(["verify", path, "--digest", @published])
      assert said() == "#{@published}  sha256, version 3"
    end

    test "draws reads, and writes the bound", %{at: at} do
      path = write_declared(at.("d.json"), ["--bound", at.("b.json")])
      {:ok, graph} = path |> File.read!() |> Connectome.decode()
      assert Enum.any?(graph.edges, &(&1.kind == :read))
      {:ok, bound} = at.("b.json") |> File.read!() |> Native.decode()
      assert bound["tools_without_module"] == ["write"]
    end

    test "writes every format", %{at: at} do
      for {format, begins} <- [
            {"dot", "digraph connectome {"},
            {"graphml", "<?xml"},
            {"html", "<!doctype html>"},
            {"sidecar", ~s({"schema_version":3,"weights":[)}
          ] do
        path = write_declared(at.(format), ["--format", format])
        assert String.starts_with?(File.read!(path), begins), format
      end

      assert capture_io(fn -> Task.run(["declared" | @declared] ++ ["--algorithm", "sha512"]) end) =~
               ~s({"schema_version":3,"algorithm":"sha512",)
    end
  end

  describe "diff" do
    test "ends with 1 on drift and says what it is", %{at: at} do
      declared = write_declared(at.("d.json"))
      observed = write_observed(at.("o.json"), ["echo", "probe"])
      arguments = ["diff", "--declared", declared, "--observed", observed]

      text =
        capture_io(fn ->
          assert catch_exit(Task.run(arguments)) == {:shutdown, 1}
        end)

      assert text =~ "observed_but_undeclared  fx/server -> fx/tool/probe  invoke"
      assert text =~ "declared_never_observed: "
    end

    test "ends well without drift; a page and a record too", %{at: at} do
      declared = write_declared(at.("d.json"), ["--bound", at.("b.json")])
      observed = write_observed(at.("o.json"), ["echo"])
      window = ["--window", "started_at=2026-09-14T00:00:00Z"]

      for {format, begins} <- [
            {"json", ~s({"algorithm":"sha256","classes":)},
            {"html", "<!doctype"}
          ] do
        Task.run(
          ["diff", "--declared", declared, "--observed", observed, "--bound", at.("b.json")] ++
            ["--format", format, "--output", at.(format)] ++ window
        )

        assert String.starts_with?(File.read!(at.(format)), begins)
      end

      assert File.read!(at.("json")) =~ ~s("window":{"started_at":"2026-09-14T00:00:00Z"})
      assert File.read!(at.("html")) =~ "tools_without_module"
    end
  end

  describe "reach" do
    test "tells the way, and ends with 1 when one goes around", %{at: at} do
      declared = write_declared(at.("d.json"))
      [alpha, beta] = for name <- ~w(Alpha Beta), do: "fx/module/#{@fixture}.#{name}"

      Task.run(["reach", declared, "fx/tool/echo", beta])
      assert said() == "fx/tool/echo\n  -> #{alpha}\n  -> #{beta}"

      Task.run(["reach", declared, "fx/tool/echo", beta, "--without", alpha])
      assert said() == "no way around"

      around = ["reach", declared, "fx/server", beta, "--without", "fx/tool/write"]
      assert catch_exit(Task.run(around)) == {:shutdown, 1}
      assert said() =~ alpha

      Task.run(["reach", declared, beta, "fx/server"])
      assert said() == "not reachable"

      assert fails(["reach", declared, "nobody", beta]) =~
               "no part of the graph has the id nobody"
    end
  end

  describe "effective" do
    test "lays weights upon what is declared, of a node and of files", %{at: at} do
      declared = write_declared(at.("d.json"))
      here = here(["echo", "probe", "echo"])
      said = capture_io(fn -> Task.run(["effective", "--declared", declared | here]) end)

      assert said =~ "2  fx/server -> fx/tool/echo  invoke\n"
      assert said =~ "undeclared 1  fx/server -> fx/tool/probe  invoke\n"
      assert said =~ "placed_weight: 2\nunplaced_edges: 1\nunplaced_weight: 1\n"

      for {file, format} <- [{"o.json", "json"}, {"w.json", "sidecar"}],
          do: Task.run(["observed" | here] ++ ["--format", format, "--output", at.(file)])

      files = ["--declared", declared, "--observed", at.("o.json"), "--weights", at.("w.json")]
      assert capture_io(fn -> Task.run(["effective" | files]) end) == said

      Task.run(["effective" | files] ++ ["--format", "sidecar", "--output", at.("e.json")])
      {:ok, sidecar} = at.("e.json") |> File.read!() |> Native.decode()
      assert [%{"to" => "fx/tool/echo", "weight" => 2}] = sidecar["weights"]
    end

    test "refuses weights that are not of the graph", %{at: at} do
      declared = write_declared(at.("d.json"))
      observed = write_observed(at.("o.json"), ["echo"])
      other = write_observed(at.("w.json"), ["probe"], ["--format", "sidecar"])
      files = ["effective", "--declared", declared, "--observed", observed]

      assert fails(files) =~ "--weights is missing"
      assert fails(files ++ ["--weights", other]) =~ "has weights of another graph"
      assert fails(files ++ ["--weights", declared]) =~ "holds no weights"
      assert fails(files ++ ["--weights", at.("none")]) =~ "no such file"
    end
  end

  describe "federate" do
    test "writes one record of files and nodes", %{at: at} do
      declared = write_declared(at.("d.json"))
      parts = ["one=#{declared}", "two=#{declared}" | here(["echo"])]
      Task.run(["federate" | parts] ++ ["--output", at.("f.json")])

      Task.run(["verify", at.("f.json")])
      assert said() =~ "sha256, version 4"
      {:ok, record} = at.("f.json") |> File.read!() |> Native.decode()
      assert ["#{node()}", "one", "two"] == for(part <- record["parts"], do: part["member"])
      assert @published not in for(part <- record["parts"], do: part["digest"])
    end

    test "tells what members disagree about", %{at: at} do
      declared = write_declared(at.("d.json"))
      {:ok, graph} = declared |> File.read!() |> Connectome.decode()

      for {sign, class} <- [allow: "observe", hold: 7] do
        edges = for edge <- graph.edges, do: %{edge | sign: sign}

        nodes =
          for node <- graph.nodes,
              do: %{node | labels: Map.replace(node.labels, "command_class", class)}

        bytes = Connectome.encode!(%{graph | nodes: nodes, edges: edges})
        File.write!(at.("#{sign}"), bytes)
      end

      parts = ["one=#{at.("allow")}", "two=#{at.("hold")}"]
      said = capture_io(fn -> Task.run(["federate" | parts] ++ ["--format", "text"]) end)
      assert said =~ ~r/^part 0  one  version 3  sha256 [0-9a-f]{64}\npart 1  two  /

      assert said =~
               "conflict  fx/server -> fx/tool/echo  invoke  part 0: allow (declared), part 1: hold (declared)\n"

      assert said =~
               ~s(conflict  fx/tool/echo  label command_class  part 0: "observe", part 1: 7\n)

      assert said =~ ~r/\nsha256: [0-9a-f]{64}\n$/
    end

    test "names the part that is refused", %{at: at} do
      File.write!(at.("bad"), "{}")
      declared = write_declared(at.("d.json"))
      assert fails(["federate", "one=#{at.("bad")}"]) =~ ~s({:part, "one",)
      assert fails(["federate", "one=#{declared}", "one=#{declared}"]) =~ "duplicate_part"
      assert fails(["federate", "=#{declared}"]) =~ ~s({:invalid, :member, ""})
    end
  end

  describe "verify" do
    test "refuses another digest, and bytes that are not canonical", %{at: at} do
      path = write_declared(at.("d.json"))

      assert fails(["verify", path, "--digest", String.duplicate("0", 64)]) =~
               "has another digest: "

      File.write!(path, File.read!(path) <> "\n")
      assert fails(["verify", path]) =~ "is refused"
      assert fails(["verify", at.("none")]) =~ "no such file"
    end
  end

  test "says what is wrong with its arguments", %{at: at} do
    for {arguments, text} <- [
          {[], "a command is missing"},
          {["draw"], "there is no command draw: declared, observed, diff,"},
          {["diff", "a.json"], "diff takes options alone, got a.json: see `mix help"},
          {["verify"], "verify takes FILE"},
          {["reach", "x"], "reach takes GRAPH FROM TO"},
          {["federate"], "federate takes MEMBER=FILE"},
          {["federate", "x"], "federate takes NAME=VALUE"},
          {["federate", "x=#{at.("none")}"], "no such file"},
          {["federate", "--node", "#{node()}"], "--collector is missing"},
          {["effective", "--declared", at.("none")], "no such file"},
          {["declared", "--sign", "deny"], "--sign is no option"},
          {["declared"], "--server is missing"},
          {["declared", "--server", "s"], "name its scope with --app APP"},
          {["declared", "--server", "s", "--app", "none"], "no application none here"},
          {["declared", "--server", "s", "--app", "beam_mcp", "--format", "svg"],
           "--format takes json"},
          {["declared", "--server", "s", "--level", "x"], "--level takes module, mfa, boundary"},
          {["declared", "--server", "s", "--tool", "x"], "--tool takes NAME=VALUE"},
          {["declared", "--server", "s", "--dispatch", "x"], "--dispatch takes MODULE.FUNCTION"},
          {["observed"], "--node is missing"},
          {["observed", "--node", "#{node()}", "--collector", "No"], ":not_started"},
          {["observed", "--node", "#{node()}"], "--collector is missing"},
          {["observed", "--node", "a@b", "--node", "c@d"], "--node is one node here"},
          {["diff", "--declared", at.("none")], "no such file"},
          {["verify", "x", "--algorithm", "md5"], "--algorithm takes sha256"},
          {["declared" | @declared] ++ ["--output", at.("no/such/folder")], "no such file"}
        ] do
      assert fails(arguments) =~ text
    end
  end
end
