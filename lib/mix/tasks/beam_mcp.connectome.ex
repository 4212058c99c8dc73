defmodule Mix.Tasks.BeamMcp.Connectome do
  @shortdoc "Writes, compares, merges, asks and verifies connectomes"

  @moduledoc """
  Writes, compares, merges, asks and verifies connectomes.

      $ mix beam_mcp.connectome declared --server my_app --app my_app --catalog MyApp.Catalog
      $ mix beam_mcp.connectome observed --node my_app@host --collector MyApp.Observed
      $ mix beam_mcp.connectome diff --declared declared.json --observed observed.json
      $ mix beam_mcp.connectome effective --declared declared.json --observed observed.json --weights weights.json
      $ mix beam_mcp.connectome reach declared.json my_app/tool/search my_app/module/MyApp.Repo
      $ mix beam_mcp.connectome federate a@host=a.json b@host=b.json --output federation.json
      $ mix beam_mcp.connectome verify declared.json --digest a401cd47f0f0410d…

  A FILE holds the canonical bytes that `--format json` writes. Everything goes to standard output
  unless `--output FILE` says otherwise; bytes that are to be verified are best written so, since what
  compiles talks there too. `docs/connectome.md` shows it at work.

  | command | exits with 1 |
  |---|---|
  | `declared` | when nothing can be built |
  | `observed` | when the node or its collector does not answer |
  | `diff` | on drift: something was observed and not declared, or a sign changed |
  | `effective` | when a graph or its weights are refused |
  | `reach GRAPH FROM TO` | with `--without`: when there is a way around |
  | `federate MEMBER=FILE ..` | when a part is refused, or a node has none |
  | `verify FILE` | when the bytes are no canonical graph or federation, or `--digest` is another |

  ## What is declared (`declared`, and `diff` and `effective` without `--declared`)

    * `--server NAME` - the instance's `server_name`, required
    * `--app APP` or `--module MODULE` - the scope, as often as needed
    * `--catalog MODULE`, `--level module|mfa|boundary`
    * `--dispatch MODULE.FUNCTION` - what runs tools without a handler of their own
    * `--tool NAME=MODULE` - which module implements a tool, as often as needed
    * `--supervisor MODULE` - as often as needed
    * `--no-read-edges` - leaves out what the server does with resources and prompts
    * `--bound FILE` - where `declared` writes, and `diff --declared` reads, what the graph cannot
      say

  ## What was observed (`observed`, and `diff` and `effective` without `--observed`)

    * `--node NODE`, `--collector NAME` - a running node and the collector there; `--cookie COOKIE`

  ## Weights on what is declared (`effective`)

    * `--declared FILE`, `--observed FILE` - graphs that were written before
    * `--weights FILE` - the weights of `--observed FILE`, which its bytes do not have: what
      `observed --format sidecar` wrote

  ## Several nodes (`federate`)

    * `MEMBER=FILE` - the canonical bytes that a member asserts, as often as needed
    * `--node NODE`, as often as needed, and `--collector NAME` - nodes that assert what they observed

  ## Difference

    * `--declared FILE`, `--observed FILE` - graphs that were written before
    * `--window KEY=VALUE` - the time that was observed, as often as needed; of a node, the
      collector's own

  ## Reach

    * `--without ID` - is there a way that avoids this part? As often as needed
    * `--kind KIND`, `--max-hops N`, `--exclude-sign SIGN`

  ## All

    * `--format FORMAT` - graphs: `json` (default), `dot`, `graphml`, `sidecar` (the weights), `html`;
      a difference: `text` (default), `json`, `html`; effective weights: `text` (default), `sidecar`;
      a federation: `json` (default), `text` (its parts and what they disagree about)
    * `--algorithm sha256|sha384|sha512`, `--output FILE`, `--title TEXT`
  """

  use Mix.Task

  import BeamMCP.Connectome.Command.Sources, only: [fail: 1, ok!: 2]

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.Command.{Report, Sources}
  alias BeamMCP.Connectome.{Declared, Diff, Effective, Federation, Reach, View}

  @graph_formats ~w(json dot graphml sidecar html)
  @diff_formats ~w(text json html)
  @effective_formats ~w(text sidecar)
  @federation_formats ~w(json text)
  @algorithms ~w(sha256 sha384 sha512)
  @switches [
    server: :string,
    app: [:string, :keep],
    module: [:string, :keep],
    catalog: :string,
    level: :string,
    dispatch: :string,
    tool: [:string, :keep],
    supervisor: [:string, :keep],
    read_edges: :boolean,
    bound: :string,
    node: [:string, :keep],
    collector: :string,
    cookie: :string,
    declared: :string,
    observed: :string,
    weights: :string,
    window: [:string, :keep],
    without: [:string, :keep],
    kind: [:string, :keep],
    max_hops: :integer,
    exclude_sign: [:string, :keep],
    format: :string,
    algorithm: :string,
    output: :string,
    title: :string,
    digest: :string
  ]

  @commands ~w(declared observed diff effective reach federate verify)
  @help "see `mix help beam_mcp.connectome`"

  @impl Mix.Task
  def run(arguments) do
    if Enum.any?(arguments, &(&1 in ["-h", "--help"])),
      do: Mix.Task.run("help", ["beam_mcp.connectome"]),
      else: answer(arguments)
  end

  defp answer(arguments) do
    {options, rest, wrong} = OptionParser.parse(arguments, strict: @switches)

    with [{switch, _value} | _more] <- wrong,
         do: fail("#{switch} is no option, or has no legal value: #{@help}")

    Mix.Task.run("app.config")
    options = Keyword.put(options, :algorithm, one_of(options, :algorithm, @algorithms))
    command(rest, options)
  end

  defp command(["declared"], options) do
    declared = Sources.build!(options)
    graph(declared.graph, options, bound: Declared.Bound.to_map(declared.bound))
  end

  defp command(["observed"], options) do
    {graph, _window} = Sources.observed(options)
    graph(graph, options, [])
  end

  defp command(["diff"], options) do
    {declared, bound} = Sources.declared(options)
    {observed, window} = Sources.observed(options)
    diff = ok!(Diff.run(declared, observed, window: window), "no difference")
    format = one_of(options, :format, @diff_formats)
    write(difference(format, diff, declared, observed, bound, options), options)
    if Diff.drift?(diff), do: exit({:shutdown, 1})
  end

  defp command(["reach", file, from, to], options) do
    graph = Sources.read!(file)
    gates = Keyword.get_values(options, :without)
    asked = Sources.reach_options!(options)
    path = ok!(Reach.reachable_without(graph, from, to, gates, asked), "no answer")
    Mix.shell().info(way(path, gates))
    if path && gates != [], do: exit({:shutdown, 1})
  end

  defp command(["effective"], options) do
    {declared, _bound} = Sources.declared(options)
    effective = ok!(Effective.project(declared, Sources.weighed(options)), "no weights")
    write(weights(one_of(options, :format, @effective_formats), effective), options)
  end

  defp command(["federate" | pairs], options) do
    parts = Sources.parts!(pairs, options)
    federation = ok!(Federation.merge(parts, algorithm: algorithm(options)), "no federation")
    write(record(one_of(options, :format, @federation_formats), federation, options), options)
  end

  defp command(["verify", file], options) do
    with {:ok, bytes} <- File.read(file),
         {:ok, verified} <- Connectome.verify(bytes, digest: options[:digest]) do
      Mix.shell().info(
        "#{verified.digest}  #{verified.algorithm}, version #{verified.schema_version}"
      )
    else
      {:error, reason} when is_atom(reason) -> fail("#{file}: #{:file.format_error(reason)}")
      {:error, {:digest_mismatch, digest}} -> fail("#{file} has another digest: #{digest}")
      {:error, reason} -> fail("#{file} is refused: #{inspect(reason)}")
    end
  end

  defp command([], _options), do: fail("a command is missing: #{Enum.join(@commands, ", ")}")
  defp command(["reach" | _rest], _options), do: fail("reach takes GRAPH FROM TO")
  defp command(["verify" | _rest], _options), do: fail("verify takes FILE")

  defp command([command, argument | _rest], _options) when command in @commands,
    do: fail("#{command} takes options alone, got #{argument}: #{@help}")

  defp command([word | _rest], _options),
    do: fail("there is no command #{word}: #{Enum.join(@commands, ", ")}")

  defp graph(graph, options, more) do
    if options[:bound], do: write_bound(options[:bound], more[:bound])
    format = one_of(options, :format, @graph_formats)
    write(ok!(graph_text(format, graph, options, more), "no #{format}"), options)
  end

  defp graph_text("json", graph, options, _more),
    do: Connectome.encode(graph, algorithm: algorithm(options))

  defp graph_text("dot", graph, _options, _more), do: Connectome.dot(graph)
  defp graph_text("graphml", graph, _options, _more), do: Connectome.graphml(graph)
  defp graph_text("sidecar", graph, _options, _more), do: Connectome.sidecar(graph)

  defp graph_text("html", graph, options, more) do
    side =
      if Enum.any?(graph.edges, &(&1.provenance == :observed)), do: :observed, else: :declared

    View.html([{side, graph} | more] ++ view(options))
  end

  defp difference("text", diff, _declared, _observed, _bound, options) do
    digest = ok!(Diff.digest(diff, algorithm: algorithm(options)), "no digest")
    Report.difference(diff, algorithm(options), digest)
  end

  defp difference("json", diff, _declared, _observed, _bound, options),
    do: ok!(Diff.encode(diff, algorithm: algorithm(options)), "no record")

  defp difference("html", diff, declared, observed, bound, options) do
    graphs = [declared: declared, observed: observed, diff: diff, bound: bound]
    ok!(View.html(graphs ++ view(options)), "no page")
  end

  defp weights("text", effective), do: Report.effective(effective)
  defp weights("sidecar", effective), do: ok!(Connectome.sidecar(effective.graph), "no weights")

  defp record("json", federation, options),
    do: ok!(Federation.encode(federation, algorithm: algorithm(options)), "no record")

  defp record("text", federation, options) do
    digest = ok!(Federation.digest(federation, algorithm: algorithm(options)), "no digest")
    Report.federation(federation, algorithm(options), digest)
  end

  defp view(options) do
    [algorithm: algorithm(options)] ++ for title <- [options[:title]], title, do: {:title, title}
  end

  defp way(false, []), do: "not reachable"
  defp way(false, _gates), do: "no way around"
  defp way(path, _gates), do: Report.way(path.nodes)

  defp write(text, options) do
    case options[:output] do
      nil -> IO.write(text)
      file -> write_file(file, text)
    end
  end

  defp write_file(file, text) do
    with {:error, reason} <- File.write(file, text),
         do: fail("#{file}: #{:file.format_error(reason)}")
  end

  defp write_bound(_file, nil), do: fail("--bound is for what is declared")

  defp write_bound(file, bound),
    do: write_file(file, ok!(Connectome.encode_value(bound), "no bound"))

  defp algorithm(options), do: String.to_atom(options[:algorithm])

  defp one_of(options, key, [default | _others] = legal) do
    value = Keyword.get(options, key, default)

    if value in legal,
      do: value,
      else: fail("--#{key} takes #{Enum.join(legal, ", ")}, got #{value}")
  end
end
