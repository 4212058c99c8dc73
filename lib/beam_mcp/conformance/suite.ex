defmodule BeamMCP.Conformance.Suite do
  @moduledoc false
  # The official conformance suite (npm `@modelcontextprotocol/conformance`): installed once into a folder, run against
  # a URL, its results read back. It needs Node.js 22; where the system's is older, a newer one comes with it.

  alias BeamMCP.Conformance.{Program, Verdict}

  @version "0.2.0-alpha.12"
  @package "@modelcontextprotocol/conformance"
  @node_floor 22
  @node_version 24

  # What the suite is asked for in each run. Requirements are the lists frozen with a revision; older ones have none.
  @runs [
    {"2025-06-18", ["--suite", "all", "--spec-version", "2025-06-18"]},
    {"2025-11-25", ["--requirements", "2025-11-25"]},
    {"2026-07-28", ["--requirements", "2026-07-28"]},
    {"all", ["--suite", "all"]}
  ]

  # Tells Elixir 1.14, which reads no JSON, what the suite wrote: a line of fields for each check.
  @reader """
  const { readdirSync, readFileSync } = require("fs");
  for (const folder of readdirSync(process.argv[1])) {
    const scenario = /^server-(.+)-\\d{4}-\\d\\d-\\d\\dT/.exec(folder)?.[1];
    if (!scenario) continue;
    for (const check of JSON.parse(readFileSync(`${process.argv[1]}/${folder}/checks.json`, "utf8"))) {
      const fields = [scenario, check.status, check.id, check.errorMessage ?? ""];
      console.log(fields.map((field) => String(field).replace(/\\s+/g, " ")).join("\\t"));
    }
  }
  """

  @enforce_keys [:node, :script]
  defstruct @enforce_keys

  @type t :: %__MODULE__{node: Path.t(), script: Path.t()}

  @doc "The version of the suite."
  @spec version() :: String.t()
  def version, do: @version

  @doc "The names of the runs."
  @spec runs() :: [String.t()]
  def runs, do: Enum.map(@runs, &elem(&1, 0))

  @doc "Where a user's installations are kept."
  @spec user_cache() :: Path.t()
  def user_cache, do: to_string(:filename.basedir(:user_cache, "beam_mcp"))

  @doc "The folder below `cache` that the suite is installed in."
  @spec home(Path.t()) :: Path.t()
  def home(cache), do: Path.join(cache, "conformance-#{@version}")

  @doc "Installs the suite below `cache`, unless it is there; `find` looks for a program by its name."
  @spec install(Path.t(), (String.t() -> Path.t() | nil)) :: {:ok, t()} | {:error, String.t()}
  def install(cache, find \\ &System.find_executable/1) do
    home = home(cache)

    with {:ok, node} <- found("node", find),
         {:ok, npm} <- found("npm", find),
         {:ok, [major, platform]} <- node_facts(node),
         newer = newer_node(major, platform),
         :ok <- installed(home, npm, newer) do
      modules = Path.join(home, "node_modules")
      node = if newer, do: Path.join([modules, newer, "bin", "node"]), else: node
      {:ok, %__MODULE__{node: node, script: Path.join([modules, @package, "dist", "index.js"])}}
    end
  end

  @doc """
  Runs the suite against `url` and judges each scenario it set out to run.

  Leaves the suite's results and its `console.txt` in `place`. After `timeout_ms` the suite is killed, and what it has not
  judged by then fails.
  """
  @spec run(t(), String.t(), String.t(), Path.t(), timeout()) :: [Verdict.t()]
  def run(suite, url, run, place, timeout_ms) do
    {^run, choice} = List.keyfind(@runs, run, 0)
    File.rm_rf!(place)
    File.mkdir_p!(place)
    arguments = [suite.script, "server", "--url", url, "-o", place | choice]
    {console, _ended} = Program.run(suite.node, arguments, timeout_ms)
    File.write!(Path.join(place, "console.txt"), console)
    verdicts(run, console, checks(suite, place))
  end

  @doc "Judges the scenarios that the `console` names by their `checks`."
  @spec verdicts(String.t(), String.t(), %{String.t() => [Verdict.check()]}) :: [Verdict.t()]
  def verdicts(run, console, checks) do
    case Regex.scan(~r/=== Running scenario: (\S+) ===/, console, capture: :all_but_first) do
      [] -> [%Verdict{run: run, scenario: "(none)", outcome: :failed, note: last_line(console)}]
      named -> for [name] <- named, do: Verdict.of(run, name, Map.get(checks, name, :none))
    end
  end

  defp found(name, find) do
    case find.(name) do
      nil ->
        {:error,
         "#{name} is missing: the suite needs Node.js (https://nodejs.org) and its package manager npm"}

      path ->
        {:ok, path}
    end
  end

  defp node_facts(node) do
    question = ~S'process.versions.node + " " + process.platform + "-" + process.arch'

    case Program.run(node, ["-p", question], 30_000) do
      {facts, {:exited, 0}} -> {:ok, String.split(facts)}
      {output, _ended} -> {:error, "#{node} does not run: #{last_line(output)}"}
    end
  end

  # The package that brings a newer Node.js, where one is needed.
  defp newer_node(version, platform) do
    {major, _rest} = Integer.parse(version)
    if major < @node_floor, do: "node-#{platform}"
  end

  defp installed(home, npm, newer) do
    packages = [
      "#{@package}@#{@version}" | if(newer, do: ["#{newer}@#{@node_version}"], else: [])
    ]

    stamp = Path.join(home, "installed")
    wanted = Enum.join(packages, "\n")

    if File.read(stamp) == {:ok, wanted} do
      :ok
    else
      File.rm(stamp)
      File.mkdir_p!(home)
      install_packages(home, npm, packages, fn -> File.write!(stamp, wanted) end)
    end
  end

  defp install_packages(home, npm, packages, done) do
    arguments = ["install", "--no-package-lock", "--no-audit", "--no-fund", "--prefix", home]

    case Program.run(npm, arguments ++ packages, 600_000) do
      {_output, {:exited, 0}} -> done.()
      {output, _ended} -> {:error, "npm could not install #{hd(packages)}:\n#{output}"}
    end
  end

  defp checks(suite, place) do
    {lines, _ended} = Program.run(suite.node, ["-e", @reader, place], 60_000)

    lines
    |> String.split("\n", trim: true)
    |> Enum.flat_map(&check/1)
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
  end

  defp check(line) do
    case String.split(line, "\t") do
      [scenario, status, id, message] -> [{scenario, %{status: status, id: id, message: message}}]
      _other -> []
    end
  end

  defp last_line(text) do
    text |> String.split("\n", trim: true) |> List.last() || "the suite said nothing"
  end
end
