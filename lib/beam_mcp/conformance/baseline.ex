defmodule BeamMCP.Conformance.Baseline do
  @moduledoc false
  # The failures that are known: a file with one scenario a line, then the runs in which it fails, then anything after
  # a `#`. It binds both ways: an unlisted failure fails, and so does a listed scenario that does not fail any more.

  alias BeamMCP.Conformance.Verdict

  @type t :: MapSet.t({String.t(), String.t()})

  @spec empty() :: t()
  def empty, do: MapSet.new()

  @doc "Reads the text of a baseline; the runs of a line stand in `runs` or the line is at fault."
  @spec parse(String.t(), [String.t()]) :: {:ok, t()} | {:error, String.t()}
  def parse(text, runs) do
    text
    |> String.split("\n")
    |> Enum.with_index(1)
    |> Enum.reduce_while({:ok, empty()}, fn {line, number}, {:ok, known} ->
      case entries(line, runs) do
        {:ok, entries} -> {:cont, {:ok, Enum.into(entries, known)}}
        {:error, reason} -> {:halt, {:error, "line #{number}: #{reason}"}}
      end
    end)
  end

  @doc "The verdicts of one run, with known failures skipped and whatever no longer fails failed."
  @spec apply(t(), String.t(), [Verdict.t()]) :: [Verdict.t()]
  def apply(known, run, verdicts) do
    judged = Enum.map(verdicts, &judge(&1, MapSet.member?(known, {&1.scenario, run})))
    judged ++ missing(known, run, verdicts)
  end

  defp entries(line, runs) do
    case line |> String.split("#", parts: 2) |> hd() |> String.split() do
      [] ->
        {:ok, []}

      [scenario] ->
        {:error, "#{scenario} needs the runs in which it fails: #{Enum.join(runs, " ")}"}

      [scenario | named] ->
        case named -- runs do
          [] -> {:ok, Enum.map(named, &{scenario, &1})}
          [unknown | _more] -> {:error, "#{unknown} is no run; use #{Enum.join(runs, ", ")}"}
        end
    end
  end

  defp judge(%Verdict{outcome: :failed} = verdict, true) do
    %{verdict | outcome: :skipped, note: "known failure: " <> verdict.note}
  end

  defp judge(verdict, true) do
    %{
      verdict
      | outcome: :failed,
        note: "in the baseline, but #{verdict.outcome}: remove it there"
    }
  end

  defp judge(verdict, false), do: verdict

  defp missing(known, run, verdicts) do
    seen = MapSet.new(verdicts, & &1.scenario)

    for {scenario, ^run} <- Enum.sort(known), not MapSet.member?(seen, scenario) do
      note = "in the baseline, but not in the suite: remove it there"
      %Verdict{run: run, scenario: scenario, outcome: :failed, note: note}
    end
  end
end
