defmodule BeamMCP.MixCompilerTest do
  use ExUnit.Case, async: true

  @moduletag :integration
  @moduletag timeout: 600_000

  @root Path.expand("../..", __DIR__)

  setup do
    directory =
      Path.join(System.tmp_dir!(), "beam_mcp-cargo-#{System.unique_integer([:positive])}")

    File.mkdir_p!(directory)
    on_exit(fn -> File.rm_rf!(directory) end)
    {:ok, directory: directory}
  end

  test "an up-to-date library is left alone" do
    {_built_or_not, []} = Mix.Tasks.Compile.BeamMcpNative.run([])
    assert Mix.Tasks.Compile.BeamMcpNative.run([]) == {:noop, []}
  end

  test "a cargo that is too old is told in one sentence", %{directory: directory} do
    output = compile_with(directory, "echo 'cargo 1.70.0 (ec8a8a0ca 2023-04-25)'")

    assert output =~
             "BeamMCP needs cargo 1.91 or newer to build its native library, and found " <>
               "cargo 1.70.0 (ec8a8a0ca 2023-04-25): run `rustup update stable`"
  end

  test "a cargo that does not run is told the same way", %{directory: directory} do
    assert compile_with(directory, "echo 'no toolchain' >&2; exit 1") =~
             "found no toolchain: run `rustup"
  end

  @failing "case $1 in --version) echo cargo 1.91.0;; *) echo 'linker not found'; exit 101;; esac"

  test "a build that fails points to what cargo said", %{directory: directory} do
    output = compile_with(directory, @failing)
    assert output =~ "linker not found"
    assert output =~ "cargo could not build beam-mcp-nif (exit status 101): its messages above"
  end

  test "a build that fails where there is no C compiler says so", %{directory: directory} do
    output = compile_with(directory, @failing, without_compiler(directory))
    assert output =~ "there is no C compiler `cc`"
    assert output =~ "apt-get install gcc libc6-dev"
  end

  # Everything that can be run but `cc`.
  defp without_compiler(directory) do
    programs = Path.join(directory, "programs")
    File.mkdir_p!(programs)

    for folder <- String.split(System.get_env("PATH"), ":"),
        {:ok, names} <- [File.ls(folder)],
        name <- names,
        name != "cc",
        do: File.ln_s(Path.join(folder, name), Path.join(programs, name))

    programs
  end

  defp compile_with(directory, script, path \\ System.get_env("PATH")) do
    cargo = Path.join(directory, "cargo")
    File.write!(cargo, "#!/bin/sh\n#{script}\n")
    File.chmod!(cargo, 0o755)
    env = [{"PATH", "#{directory}:#{path}"}, {"MIX_ENV", "test"}]

    {output, status} =
      System.cmd("mix", ["compile.beam_mcp_native"], cd: @root, env: env, stderr_to_stdout: true)

    assert status != 0
    output
  end
end
