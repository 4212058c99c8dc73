defmodule BeamMCP.FaultTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.Fault

  describe "describe/3" do
    test "keeps the author's words" do
      assert Fault.describe(:error, %RuntimeError{message: "disk full"}, []) ==
               "RuntimeError: disk full"

      assert Fault.describe(:exit, :shutdown, []) == "exit :shutdown"
      assert Fault.describe(:throw, "done", []) == ~s(throw "done")

      assert Fault.describe(:exit, {:noproc, {GenServer, :call, [:a, :b, 1]}}, []) ==
               "exit {:noproc, GenServer.call/3}"
    end

    test "says little of a large reason" do
      large = 1..9 |> Enum.to_list() |> List.to_tuple()
      assert Fault.describe(:exit, large, []) == "exit a tuple of 9"
      assert Fault.describe(:exit, {:a, {:b, {:c}}}, []) == "exit {:a, {..}}"
    end

    test "leaves out terms, which may be arguments or results" do
      secret = "swordfish"

      described = [
        Fault.describe(:error, {:badmatch, secret}, []),
        Fault.describe(:error, {:case_clause, %{key: secret}}, []),
        Fault.describe(:error, %KeyError{key: :a, term: %{b: secret}}, []),
        Fault.describe(:error, %Protocol.UndefinedError{protocol: Enumerable, value: secret}, []),
        Fault.describe(:error, {:badarity, {fn -> 1 end, [secret]}}, []),
        Fault.describe(:error, {:custom, [secret]}, []),
        Fault.describe(:exit, {:reason, %{a: secret}}, []),
        Fault.describe(:exit, {%RuntimeError{message: secret}, []}, []),
        Fault.describe(:throw, [secret], [])
      ]

      for text <- described, do: refute(text =~ secret)
      assert hd(described) == "MatchError"
    end
  end

  test "stack traces carry arities" do
    stacktrace = [
      {Enum, :fetch!, [["swordfish"], 3], [file: ~c"lib/enum.ex", line: 1]},
      {&is_atom/1, ["swordfish"], []}
    ]

    log =
      capture_log(fn -> Fault.log(:error, %RuntimeError{message: "m"}, stacktrace, "tool :t") end)

    assert log =~ "[BeamMCP] tool :t failed: RuntimeError: m"
    assert log =~ "Enum.fetch!/2"
    refute log =~ "swordfish"
  end
end
