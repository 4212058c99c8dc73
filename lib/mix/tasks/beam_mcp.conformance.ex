defmodule Mix.Tasks.BeamMcp.Conformance do
  @shortdoc "Runs the official MCP conformance suite against a running server"

  @moduledoc """
  Runs the official MCP conformance suite against a running server.

      $ mix beam_mcp.conformance --url http://127.0.0.1:4040/mcp

  The suite calls tools, resources and prompts with fixed names (`test_simple_text`,
  `test://static-text`, ..); a server without them fails the scenarios that do, so look at those
  that ask for what your server offers, or list the others in a baseline.

  Prints one line for each scenario of each run, then `N passed, N failed, N skipped`, and exits with
  1 when a scenario failed. It counts more strictly than the suite itself: a warning fails; a
  scenario that broke off fails; one that asserted nothing about the server is skipped.

  ## Options

    * `--url URL` - the endpoint, required
    * `--runs RUNS` - what to run, with commas between (`2025-11-25,2026-07-28,all`). A revision
      runs what that revision asks for, in its own wire format; `all` runs every scenario once.
      `2025-06-18` can be asked for too
    * `--baseline FILE` - failures that are known. A line names a scenario and the runs in which it
      fails; a `#` starts a comment. A listed scenario that does not fail any more fails the task
    * `--results DIR` - where the suite leaves what it found, for each run in a folder of its own
      (default: a folder in the system's temporary directory)
    * `--cache DIR` - where the suite is installed (default: the user's cache directory)
    * `--timeout-ms N` - how long one run may take (600,000)

  Needs Node.js and npm. The first time it downloads the suite, and a newer Node.js where the
  system's is older than 22.
  """

  use Mix.Task

  alias BeamMCP.Conformance.{Baseline, Suite, Verdict}

  @switches [
    url: :string,
    runs: :string,
    baseline: :string,
    results: :string,
    cache: :string,
    timeout_ms: :integer
  ]
  @default_runs "2025-11-25,2026-07-28,all"
  @default_timeout_ms 600_000

  @help "see `mix help beam_mcp.conformance`"

  @impl Mix.Task
  def run(arguments) do
    if Enum.any?(arguments, &(&1 in ["-h", "--help"])),
      do: Mix.Task.run("help", ["beam_mcp.conformance"]),
      else: try_out(arguments)
  end

  defp try_out(arguments) do
    options = options!(arguments)
    baseline = baseline!(options.baseline)
    suite = suite!(options.cache)

    verdicts = Enum.flat_map(options.runs, &judge(suite, &1, baseline, options))
    close(Verdict.count(verdicts), options.results)
  end

  defp judge(suite, run, baseline, options) do
    place = Path.join(options.results, run)
    verdicts = Suite.run(suite, options.url, run, place, options.timeout_ms)
    judged = Baseline.apply(baseline, run, verdicts)
    Enum.each(judged, &print/1)
    judged
  end

  defp options!(arguments) do
    {given, rest, wrong} = OptionParser.parse(arguments, strict: @switches)

    case {rest, wrong} do
      {[], []} ->
        :ok

      {_rest, [{switch, _value} | _more]} ->
        fail("#{switch} is no option, or lacks its value: #{@help}")

      {[argument | _more], []} ->
        fail("unexpected argument #{argument}")
    end

    %{
      url: url!(given[:url]),
      runs: runs!(Keyword.get(given, :runs, @default_runs)),
      baseline: given[:baseline],
      results:
        Path.expand(given[:results] || Path.join(System.tmp_dir!(), "beam_mcp-conformance")),
      cache: Path.expand(given[:cache] || Suite.user_cache()),
      timeout_ms: Keyword.get(given, :timeout_ms, @default_timeout_ms)
    }
  end

  defp url!(nil),
    do: fail("--url is missing: give the endpoint, such as http://127.0.0.1:4040/mcp")

  defp url!(url) do
    case URI.parse(url) do
      %URI{scheme: scheme, host: <<_, _::binary>>} when scheme in ["http", "https"] -> url
      _other -> fail("--url takes an http or https URL, got #{url}")
    end
  end

  defp runs!(text) do
    runs = String.split(text, ",", trim: true)

    case runs -- Suite.runs() do
      [] when runs != [] -> runs
      _unknown -> fail("--runs takes #{Enum.join(Suite.runs(), ",")}, got #{text}")
    end
  end

  defp baseline!(nil), do: Baseline.empty()

  defp baseline!(path) do
    with {:ok, text} <- File.read(path),
         {:ok, baseline} <- Baseline.parse(text, Suite.runs()) do
      baseline
    else
      {:error, reason} when is_atom(reason) -> fail("#{path}: #{:file.format_error(reason)}")
      {:error, reason} -> fail("#{path}, #{reason}")
    end
  end

  defp suite!(cache) do
    home = Suite.home(cache)
    unless File.dir?(home), do: Mix.shell().info("Installing the suite in #{home}.")

    case Suite.install(cache) do
      {:ok, suite} -> suite
      {:error, reason} -> fail(reason)
    end
  end

  defp print(%Verdict{} = verdict) do
    word = String.pad_trailing(word(verdict.outcome), 4)
    run = String.pad_trailing(verdict.run, 10)
    scenario = String.pad_trailing(verdict.scenario, 44)
    Mix.shell().info("#{word}  #{run}  #{scenario}  #{verdict.note}")
  end

  defp word(:passed), do: "PASS"
  defp word(:failed), do: "FAIL"
  defp word(:skipped), do: "SKIP"

  defp close(count, results) do
    Mix.shell().info("Details are in #{results}.")
    Mix.shell().info("#{count.passed} passed, #{count.failed} failed, #{count.skipped} skipped")
    if count.failed > 0, do: exit({:shutdown, 1})
  end

  @spec fail(String.t()) :: no_return()
  defp fail(reason), do: Mix.raise("beam_mcp.conformance: #{reason}")
end
