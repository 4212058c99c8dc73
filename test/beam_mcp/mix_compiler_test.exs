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

  defp compile_with(directory, script) do
    cargo = Path.join(directory, "cargo")
    File.write!(cargo, "#!/bin/sh\n#{script}\n")
    File.chmod!(cargo, 0o755)
    env = [{"PATH", "#{directory}:#{System.get_env("PATH")}"}, {"MIX_ENV", "test"}]

    {output, status} =
      System.cmd("mix", ["compile.beam_mcp_native"], cd: @root, env: env, stderr_to_stdout: true)

    assert status != 0
    output
  end
end
