defmodule BeamMCP.Connectome.CensusTest do
  # What must not be anywhere: a verdict of the library's own, and what callers sent or got.
  use ExUnit.Case, async: false

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Declared, Diff, Observed, Tracer, View}
  alias BeamMCP.{PromptArgument, PromptSpec, ResourceTemplateSpec, ToolSpec}
  alias BeamMCP.Test, as: MCP

  @marker "swordfish"

  describe "no line writes a sign but the neutral one" do
    @verdicts [:allow, :deny, :hold, :ungoverned, :unknown]

    test "in Elixir" do
      files = for file <- Path.wildcard("lib/**/*.ex"), File.read!(file) =~ "Connectome", do: file

      assert length(files) > 30
      assert for(file <- files, word <- verdicts(File.read!(file)), do: {file, word}) == []
      assert {:sign, :unset} in pairs("lib/beam_mcp/connectome/edge.ex")
    end

    test "in Rust" do
      verdict = ~r/\bSign::(Allow|Deny|Hold|Ungoverned|Unknown)\b/

      named =
        for file <- Path.wildcard("native/*/src/**/*.rs"),
            [code | _tests] = String.split(File.read!(file), "mod tests {"),
            code =~ verdict,
            do: file

      # Where the words are, and what each is in another version.
      assert named == ["native/connectome/src/vocabulary.rs"]
    end

    test "which a line that did so would fail" do
      for line <- [
            "%{edge | sign: :deny}",
            "sign = :hold; %{edge | sign: sign}",
            "Map.put(edge, :sign, :allow)"
          ],
          do: assert([_word] = verdicts(line))

      assert verdicts("@signs [:allow, :deny]; Map.get(edge, :sign)") == []
    end

    # The words for verdicts outside of attributes, which name the vocabulary.
    defp verdicts(code) do
      {_quoted, found} =
        code
        |> Code.string_to_quoted!()
        |> Macro.prewalk([], fn
          {:@, _place, _attribute}, found -> {nil, found}
          word, found when word in @verdicts -> {word, [word | found]}
          other, found -> {other, found}
        end)

      found
    end

    defp pairs(file) do
      {_quoted, pairs} =
        file
        |> File.read!()
        |> Code.string_to_quoted!()
        |> Macro.prewalk([], fn
          {:sign, value} = pair, pairs when is_atom(value) -> {pair, [pair | pairs]}
          other, pairs -> {other, pairs}
        end)

      pairs
    end
  end

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      text = %{"type" => "object", "properties" => %{"text" => %{"type" => "string"}}}

      %{
        tools:
          for(name <- [:echo, :raise, :throw], do: %ToolSpec{name: name, input_schema: text}),
        resources: [],
        templates: [%ResourceTemplateSpec{uri_template: "r://{id}", name: "t"}],
        prompts: [%PromptSpec{name: :greet, arguments: [%PromptArgument{name: :who}]}]
      }
    end

    @impl true
    def read_resource(uri, _context), do: {:ok, uri}

    @impl true
    def get_prompt(:greet, %{who: who}, _context), do: {:ok, who}

    def call(:echo, %{text: text}, _context) do
      if worker = Process.whereis(BeamMCP.Connectome.CensusTest.Worker), do: send(worker, text)
      {:ok, text}
    end

    def call(:raise, %{text: text}, _context), do: raise(text)
    def call(:throw, %{text: text}, _context), do: throw(text)
  end

  test "no byte of arguments or results is in any event, row or export" do
    test = self()
    :telemetry.attach(fn event, measured, metadata -> send(test, {event, measured, metadata}) end)
    on_exit(&:telemetry.detach/0)
    name = __MODULE__.Server
    start_supervised!({Observed, name: __MODULE__.Seen, instances: [name], keep_ms: 0})
    client = MCP.start!(name: name, server_name: "s", catalog: Catalog, dispatch: &Catalog.call/3)
    trace()

    {:ok, %{"structuredContent" => _}} = reply(MCP.call_tool(client, "echo", %{text: @marker}))
    {:ok, %{"isError" => true}} = MCP.call_tool(client, "raise", %{text: @marker})
    {:ok, %{"isError" => true}} = MCP.call_tool(client, "throw", %{text: @marker})

    {:ok, %{"contents" => [%{"text" => "r://" <> @marker}]}} =
      MCP.read_resource(client, "r://" <> @marker)

    {:ok, _prompt} = MCP.get_prompt(client, "greet", %{who: @marker})
    traced()

    written = [exports() | events([])]
    for {what, bytes} <- written, do: refute(bytes =~ @marker, what)
    # What was searched has the names of all that ran.
    everything = Enum.map_join(written, &elem(&1, 1))

    for part <- ["echo", "raise", "throw", "r://{id}", "greet", "Worker"],
        do: assert(everything =~ part)
  end

  # A text comes back as text alone.
  defp reply({:ok, %{"content" => [%{"text" => @marker}]} = result}),
    do: {:ok, Map.put_new(result, "structuredContent", nil)}

  defp trace do
    {:ok, _agent} = Agent.start_link(fn -> nil end, name: __MODULE__.Worker)

    {:ok, sender} = Agent.start_link(fn -> nil end, name: __MODULE__.Sender)

    {:ok, _tracer} =
      Tracer.start(
        collector: __MODULE__.Seen,
        server: "s",
        modules: [Catalog],
        processes: [__MODULE__.Sender],
        accept_shared_tracing: true
      )

    on_exit(&Tracer.stop/0)
    Agent.update(sender, fn _state -> send(Process.whereis(__MODULE__.Worker), @marker) end)
  end

  defp traced(tries \\ 200) do
    {:ok, graph} = Observed.snapshot(__MODULE__.Seen)
    kinds = for edge <- graph.edges, uniq: true, do: edge.kind

    unless Enum.sort(kinds) == [:invoke, :message, :read] do
      if tries == 0, do: flunk("traced: #{inspect(graph.edges)}")
      Process.sleep(5)
      traced(tries - 1)
    end
  end

  defp exports do
    seen = __MODULE__.Seen
    {:ok, observed} = Observed.snapshot(seen)
    {:ok, declared} = Declared.build(server: "s", modules: [Catalog], catalog: Catalog)
    {:ok, diff} = Diff.run(declared.graph, observed, window: %{})
    bound = Declared.Bound.to_map(declared.bound)

    {:ok, html} =
      View.html(declared: declared.graph, observed: observed, diff: diff, bound: bound)

    graphs =
      for graph <- [declared.graph, observed],
          export <- [
            &Connectome.encode/1,
            &Connectome.sidecar/1,
            &Connectome.dot/1,
            &Connectome.graphml/1
          ] do
        {:ok, bytes} = export.(graph)
        bytes
      end

    {:ok, record} = Diff.encode(diff)

    told = [
      Observed.rows(seen),
      Observed.latency(seen),
      Observed.window(seen),
      Observed.size(seen)
    ]

    {"exports", Enum.join([html, record, inspect(told, limit: :infinity) | graphs])}
  end

  defp events(read) do
    receive do
      {[:beam_mcp | _] = event, measured, metadata} ->
        all = inspect({event, measured, metadata}, limit: :infinity, printable_limit: :infinity)
        events([{inspect(event), all} | read])
    after
      100 -> read
    end
  end
end
