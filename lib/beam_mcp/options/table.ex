defmodule BeamMCP.Options.Table do
  @moduledoc """
  Every option of BeamMCP: key, legal values, default, and what it does at its limit.

  Validation, the documentation of `BeamMCP`, `BeamMCP.Transport.HTTP`, `BeamMCP.TLS`,
  `BeamMCP.OAuth`, `BeamMCP.Transport.Stdio`, the stores, `BeamMCP.Connectome.Observed` and
  `BeamMCP.Test`, and the tests read these rows.
  """

  import BeamMCP.Options.Row

  alias BeamMCP.Options.{Check, HTTP, Instance, OAuth, Row, Stores}

  @levels ~w(debug info notice warning error critical alert emergency)a

  @doc "The tables that have secret options."
  @spec secretive() :: [BeamMCP.Options.table()]
  def secretive, do: [:instance, :oauth, :introspection]

  @doc "The rows of one table."
  @spec rows(BeamMCP.Options.table()) :: [Row.t()]
  def rows(:instance), do: Instance.rows()
  def rows(:http), do: HTTP.rows()
  def rows(:tls), do: HTTP.tls()
  def rows(:oauth), do: OAuth.resource()
  def rows(:issuer), do: OAuth.issuer()
  def rows(:introspection), do: OAuth.introspection()
  def rows(:stdio), do: stdio()
  def rows(:session_ets), do: Stores.sessions()
  def rows(:session_mnesia), do: Stores.sessions() ++ Stores.mnesia()
  def rows(:staged_ets), do: Stores.staged()
  def rows(:staged_mnesia), do: Stores.staged() ++ Stores.mnesia()
  def rows(:task_ets), do: Stores.tasks()
  def rows(:task_mnesia), do: Stores.tasks() ++ Stores.mnesia()
  def rows(:replay_ets), do: Stores.replays()
  def rows(:replay_mnesia), do: Stores.replays() ++ Stores.mnesia()
  def rows(:test), do: test()
  def rows(:observed), do: observed()

  defp stdio do
    [
      bytes(
        :max_line_bytes,
        1_048_576,
        1_024,
        "A line; the rest of a longer one is skipped and the line refused"
      ),
      time(
        :drain_timeout_ms,
        5_000,
        0,
        "Time for calls to finish, from the end of input or SIGTERM on, whether the client reads what is answered or not; then they are cancelled, and it has a second to read the last answers"
      ),
      row(
        :principal,
        :term,
        :local,
        "Who the client is, as whoever launches the server knows: `principal` in each `BeamMCP.Context`"
      ),
      row(
        :scopes,
        {:optional, {:custom, &Check.scopes/1, "a list of strings"}},
        {:described, "all scopes that methods need, and none of those that definitions need"},
        "What the client may do, as if an access token had said so"
      )
    ]
  end

  defp observed do
    [
      row(
        :name,
        {:custom, &Check.process_name/1, "an atom"},
        :required,
        "Names the collector and registers its process; several may run"
      ),
      row(
        :instances,
        {:custom, &Check.instances/1, "`:all`, or a list of names of instances"},
        :all,
        "Whose calls are counted"
      ),
      count(
        :max_edges,
        100_000,
        1,
        10_000_000,
        "Different edges; what finds no room is not counted, and `size/1` says how often that was"
      ),
      time(
        :keep_ms,
        60_000,
        0,
        "How long what was counted waits for a collector that crashed, or was shut down, to start again"
      )
    ]
  end

  defp test do
    [
      row(
        :revision,
        {:custom, &Check.revision/1, Enum.map_join(Check.revisions(), ", ", &"`#{inspect(&1)}`")},
        "2026-07-28",
        "The protocol revision that the client speaks; with an older one it does the handshake"
      ),
      row(
        :principal,
        :term,
        :anonymous,
        "Who calls, as if `authorize` had said so: `principal` in each `BeamMCP.Context`"
      ),
      row(
        :scopes,
        {:optional, {:custom, &Check.scopes/1, "a list of strings"}},
        nil,
        "What the caller may do, in the same way"
      ),
      row(
        :client_info,
        {:custom, &Check.object/1, "a map"},
        %{name: "BeamMCP.Test", version: "1"},
        "What the client says of itself"
      ),
      row(
        :capabilities,
        {:custom, &Check.object/1, "a map"},
        %{},
        "What the client says that it can do"
      ),
      row(
        :log_level,
        {:optional, {:one_of, @levels}},
        :debug,
        "From which level on the client reads log messages; with `nil` it does not say"
      ),
      row(
        :progress,
        :boolean,
        true,
        "Whether the client asks each request for its progress"
      ),
      time(:timeout_ms, 5_000, 1, "How long a function waits for an answer; then it raises")
    ]
  end
end
