defmodule BeamMCP.Conformance.Verdict do
  @moduledoc false
  # What one scenario of the official suite says of a server, counted more strictly than the suite's own exit status: a
  # warning fails, a scenario that left no checks behind fails, and one that asserted nothing about the server is skipped.

  @typedoc "What one check of a scenario found; the status is the suite's word."
  @type check :: %{status: String.t(), id: String.t(), message: String.t()}

  @type outcome :: :passed | :failed | :skipped

  @type t :: %__MODULE__{
          run: String.t(),
          scenario: String.t(),
          outcome: outcome(),
          note: String.t()
        }

  @enforce_keys [:run, :scenario, :outcome, :note]
  defstruct @enforce_keys

  # These say whether messages fit the schema, which holds for a dead port too.
  @schema_checks ~w(wire-schema-valid wire-schema-harness-error)
  @shown_faults 4
  @shown_characters 160

  @doc "Judges one scenario by its checks; `:none` when it left none behind."
  @spec of(String.t(), String.t(), [check()] | :none) :: t()
  def of(run, scenario, checks) do
    {outcome, note} = judge(checks)
    %__MODULE__{run: run, scenario: scenario, outcome: outcome, note: note}
  end

  @doc "How many verdicts have each outcome."
  @spec count([t()]) :: %{outcome() => non_neg_integer()}
  def count(verdicts) do
    Map.merge(%{passed: 0, failed: 0, skipped: 0}, Enum.frequencies_by(verdicts, & &1.outcome))
  end

  defp judge(:none), do: {:failed, "it threw or hung: see console.txt"}

  defp judge(checks) do
    faults = Enum.filter(checks, &(&1.status in ["FAILURE", "WARNING"]))
    proofs = Enum.count(checks, &(&1.status == "SUCCESS" and &1.id not in @schema_checks))

    case {faults, proofs} do
      {[_fault | _more], _proofs} -> {:failed, describe(faults)}
      {[], 0} -> {:skipped, "it asserted nothing about this server"}
      {[], 1} -> {:passed, "1 check"}
      {[], proofs} -> {:passed, "#{proofs} checks"}
    end
  end

  defp describe(faults) do
    {shown, hidden} = Enum.split(faults, @shown_faults)
    more = if hidden == [], do: [], else: ["and #{length(hidden)} more"]
    Enum.join(Enum.map(shown, &shorten("#{&1.id}: #{&1.message}")) ++ more, "; ")
  end

  defp shorten(text) do
    if String.length(text) > @shown_characters,
      do: String.slice(text, 0, @shown_characters - 1) <> "…",
      else: text
  end
end
