defmodule BeamMCP.Options.Stores do
  @moduledoc false
  # The options of the stores.

  import BeamMCP.Options.Row

  alias BeamMCP.Options.Row

  @day_ms 86_400_000

  @spec sessions() :: [Row.t()]
  def sessions do
    [
      count(
        :max_sessions,
        10_000,
        1,
        10_000_000,
        "Sessions; over it a new one takes the place of one left unused, or `initialize` is refused with 503"
      ),
      count(
        :max_sessions_per_principal,
        1_000,
        1,
        10_000_000,
        "Sessions of one named principal; over it `initialize` is refused with 503"
      ),
      time(:idle_timeout_ms, 1_800_000, 1, "A session unused for this time ends"),
      time(:lifetime_ms, @day_ms, 1, "A session ends at this age, used or not"),
      time(:sweep_interval_ms, 60_000, 1, "Time between two removals of ended sessions")
    ]
  end

  @spec staged() :: [Row.t()]
  def staged do
    [
      count(
        :max_staged,
        100_000,
        1,
        10_000_000,
        "Entries, those included that were taken and have not expired; over it nothing more is kept"
      ),
      time(
        :sweep_interval_ms,
        60_000,
        1,
        "Time between two removals of entries that have expired"
      )
    ]
  end

  @spec tasks() :: [Row.t()]
  def tasks do
    [
      count(
        :max_tasks,
        10_000,
        1,
        10_000_000,
        "Tasks that are kept; over it a call that would become one is refused with 503 and -31503"
      ),
      count(
        :max_tasks_per_principal,
        1_000,
        1,
        10_000_000,
        "Tasks of one named principal, in the same way"
      ),
      bytes(
        :max_task_bytes,
        268_435_456,
        1_024,
        "Results, questions, and the requests and answers of tasks that are worked on; over it no task begins, and what one comes to is replaced by an error"
      ),
      time(:sweep_interval_ms, 60_000, 1, "Time between two removals of tasks whose time is up")
    ]
  end

  @spec replays() :: [Row.t()]
  def replays do
    [
      count(
        :max_proofs,
        1_000_000,
        1,
        100_000_000,
        "Proofs that are remembered; over it requests with a proof are answered 503"
      ),
      time(:sweep_interval_ms, 30_000, 1, "Time between two removals of proofs that are too old")
    ]
  end

  @doc "What stores in Mnesia have beside those."
  @spec mnesia() :: [Row.t()]
  def mnesia do
    [
      row(
        :disc_copies,
        :boolean,
        false,
        "Keeps this node's copy on disc too; the node needs a Mnesia schema on disc"
      ),
      row(
        :majority,
        :boolean,
        true,
        "A node that sees no more than half of the copies answers 503. With `false` it goes on, so that one of two nodes survives the other, and a cluster that falls apart goes on as two"
      ),
      time(
        :load_timeout_ms,
        5_000,
        0,
        "How long the start waits for the tables to be loaded; until they are, what needs them is answered 503"
      )
    ]
  end
end
