defmodule BeamMCP.Conformance.BaselineTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Conformance.{Baseline, Suite, Verdict}

  @runs ["2025-11-25", "all"]

  test "a listed failure is skipped, an unlisted one fails" do
    assert [known, unknown] = applied("a all", [verdict("a", :failed), verdict("b", :failed)])

    assert {known.outcome, known.note} == {:skipped, "known failure: why"}
    assert {unknown.outcome, unknown.note} == {:failed, "why"}
  end

  test "a listed scenario that does not fail any more fails" do
    for outcome <- [:passed, :skipped] do
      assert [%Verdict{outcome: :failed, note: note}] = applied("a all", [verdict("a", outcome)])
      assert note == "in the baseline, but #{outcome}: remove it there"
    end
  end

  test "a listed scenario that the suite does not have fails" do
    assert [%Verdict{scenario: "b"}, %Verdict{scenario: "a", outcome: :failed, note: note}] =
             applied("a all", [verdict("b", :passed)])

    assert note =~ "not in the suite"
  end

  test "a line counts for the runs it names" do
    assert [%Verdict{outcome: :failed, note: "why"}] =
             applied("a 2025-11-25", [verdict("a", :failed)])

    assert [%Verdict{outcome: :skipped}] = applied("a 2025-11-25 all", [verdict("a", :failed)])
  end

  test "what passes unlisted is left alone" do
    verdicts = [verdict("a", :passed), verdict("b", :skipped)]
    assert applied("", verdicts) == verdicts
  end

  test "comments and empty lines say nothing" do
    assert {:ok, known} = Baseline.parse("# a all\n\n  \nb all # all of it\r\n", @runs)
    assert known == MapSet.new([{"b", "all"}])
  end

  test "a faulty line is named with its fix" do
    assert Baseline.parse("a all\nb", @runs) ==
             {:error, "line 2: b needs the runs in which it fails: 2025-11-25 all"}

    assert Baseline.parse("a all 2024", @runs) ==
             {:error, "line 1: 2024 is no run; use 2025-11-25, all"}
  end

  test "the project's own baseline is sound" do
    text = File.read!("test/conformance/baseline")
    assert {:ok, _known} = Baseline.parse(text, Suite.runs())
  end

  defp applied(text, verdicts) do
    {:ok, known} = Baseline.parse(text, @runs)
    Baseline.apply(known, "all", verdicts)
  end

  defp verdict(scenario, outcome) do
    %Verdict{run: "all", scenario: scenario, outcome: outcome, note: "why"}
  end
end
