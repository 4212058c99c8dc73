defmodule BeamMCP.Test.Atoms do
  @moduledoc false
  # Whether names from outside become atoms.

  @rounds 5

  @doc """
  The fewest atoms that came in one of five rounds, each of which does `act` so many times, always with another number to
  make names of.

  Other tests of the same runtime load modules meanwhile; what makes atoms of names makes them in every round.
  """
  @spec made(pos_integer(), (pos_integer() -> term()), (() -> non_neg_integer())) :: integer()
  def made(times, act, count \\ fn -> :erlang.system_info(:atom_count) end) do
    rounds =
      for _ <- 1..@rounds do
        before = count.()
        for _ <- 1..times, do: act.(System.unique_integer([:positive]))
        count.() - before
      end

    Enum.min(rounds)
  end
end
