defmodule BeamMCP.Transport.StdioTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Transport.Stdio

  test "the launcher's descriptors come before everything else" do
    assert Stdio.mode("3,4", :error) == {:descriptors, 3, 4}
    assert Stdio.mode("3,4", {:ok, [[]]}) == {:descriptors, 3, 4}
  end

  test "without a launcher, -noinput gives standard input and output over" do
    assert Stdio.mode(nil, {:ok, [[]]}) == {:descriptors, 0, 1}
    assert Stdio.mode(nil, :error) == :lines
  end

  test "a misspelt option is told from those of the instance and its own" do
    for {wrong, meant} <- [principle: "principal", max_call: "max_calls"] do
      error = assert_raise ArgumentError, fn -> Stdio.run([{wrong, 1}]) end
      assert error.message =~ "unknown option #{wrong} (did you mean #{meant}?)"
    end
  end

  test "other descriptors are refused by name" do
    for wrong <- ["", "3", "3,4,5", "a,b", "3, 4"] do
      assert_raise ArgumentError, ~r/BEAM_MCP_STDIO must be two descriptors such as 3,4/, fn ->
        Stdio.mode(wrong, :error)
      end
    end
  end
end
