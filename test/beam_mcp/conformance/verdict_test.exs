defmodule BeamMCP.Conformance.VerdictTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Conformance.{Suite, Verdict}

  test "a scenario passes by what it asserted, leaving out the check of schemas" do
    assert {:passed, "2 checks"} = judged([check("SUCCESS"), check("SUCCESS"), schema()])
    assert {:passed, "1 check"} = judged([check("SUCCESS"), check("INFO"), check("SKIPPED")])
  end

  test "a scenario that asserted nothing is skipped" do
    for checks <- [[], [schema()], [check("INFO")], [check("SKIPPED"), schema()]] do
      assert {:skipped, "it asserted nothing about this server"} = judged(checks)
    end
  end

  test "a failure and a warning fail, whatever else succeeded" do
    assert {:failed, "c: broken"} = judged([check("SUCCESS"), check("FAILURE")])
    assert {:failed, "c: broken"} = judged([check("SUCCESS"), check("WARNING")])
    assert {:failed, "wire-schema-valid: broken"} = judged([%{schema() | status: "FAILURE"}])
  end

  test "a scenario without checks fails" do
    assert {:failed, "it threw or hung" <> _rest} = judged(:none)
  end

  test "long and many faults are cut" do
    assert {:failed, note} = judged(List.duplicate(%{check("FAILURE") | message: long()}, 6))
    assert note =~ "…; c: aaa"
    assert String.ends_with?(note, "; and 2 more")
    assert String.length(note) < 700
  end

  test "the scenarios are those that the suite set out to run" do
    console = "=== Running scenario: a ===\n..\n=== Running scenario: b ===\n"
    verdicts = Suite.verdicts("all", console, %{"a" => [check("SUCCESS")], "c" => []})
    assert [{"a", :passed}, {"b", :failed}] = Enum.map(verdicts, &{&1.scenario, &1.outcome})
  end

  test "a suite that ran no scenario is a failure" do
    assert [%Verdict{outcome: :failed, note: "cannot start"}] =
             Suite.verdicts("all", "boom\ncannot start\n", %{})

    assert [%Verdict{outcome: :failed, note: "the suite said nothing"}] =
             Suite.verdicts("all", "", %{})
  end

  test "outcomes are counted" do
    verdicts = for checks <- [:none, [], [check("SUCCESS")], :none], do: verdict(checks)
    assert Verdict.count(verdicts) == %{passed: 1, failed: 2, skipped: 1}
    assert Verdict.count([]) == %{passed: 0, failed: 0, skipped: 0}
  end

  defp judged(checks) do
    %Verdict{outcome: outcome, note: note} = verdict(checks)
    {outcome, note}
  end

  defp verdict(checks), do: Verdict.of("all", "scenario", checks)

  defp check(status), do: %{status: status, id: "c", message: "broken"}
  defp schema, do: %{check("SUCCESS") | id: "wire-schema-valid"}
  defp long, do: String.duplicate("a", 1_000)
end
