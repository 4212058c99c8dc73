defmodule BeamMCP.Conformance.ProgramTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Conformance.Program

  test "returns what a program printed and how it ended" do
    assert Program.run("/bin/sh", ["-c", "echo out; echo err >&2; exit 3"], 10_000) ==
             {"out\nerr\n", {:exited, 3}}
  end

  test "arguments are passed as they are" do
    assert Program.run("/bin/sh", ["-c", ~S|printf %s "$1"|, "sh", "$(id); 'x'"], 10_000) ==
             {"$(id); 'x'", {:exited, 0}}
  end

  test "a program is killed at its deadline, and what it printed is kept" do
    {output, ended} = Program.run("/bin/sh", ["-c", "echo $$; exec sleep 60"], 300)
    assert ended == :killed
    [pid, _killed] = String.split(output, "\n", parts: 2)
    assert {_message, 1} = System.cmd("kill", ["-0", pid], stderr_to_stdout: true)
  end

  test "nothing of a program stays in the mailbox" do
    Program.run("/bin/sh", ["-c", "echo a"], 10)
    Program.run("/bin/sh", ["-c", "echo a; exec sleep 60"], 10)
    Process.sleep(50)
    refute_received _anything
  end
end
