Code.require_file("integration/support/json.exs", __DIR__)

defmodule MyAppWeb.Endpoint do
  # A neighbour of the README's instance.
  use Agent
  def start_link(_options), do: Agent.start_link(fn -> [] end)
end

defmodule BeamMCP.DocsTest do
  # Runs or checks whatever the documents show.
  use ExUnit.Case, async: false

  alias BeamMCP.Options.Table
  alias BeamMCP.Test.{Docs, DocsCode, Guide, Json, RawHTTP}
  alias BeamMCP.ToolSpec

  # What is shown of other programs is read by nobody here.
  @others ~w(caddy haproxy js lua nginx)
  @languages ~w(console elixir erlang json sh text) ++ @others
  @token "a token of the tests"

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      code = %{"type" => "object", "properties" => %{"code" => %{"type" => "string"}}}

      %{
        tools: [%ToolSpec{name: :export}, %ToolSpec{name: :run, input_schema: code}],
        resources: [],
        prompts: []
      }
    end
  end

  setup_all do
    Application.put_env(:my_app, :mcp_token, @token)

    complaints =
      for file <- Docs.files(),
          block <- Docs.blocks(file, ["elixir", "erlang"]),
          not DocsCode.expression?(block),
          complaint = DocsCode.compile(block),
          complaint != "",
          do: {at(block), complaint}

    {:ok, complaints: complaints}
  end

  test "code compiles in silence", %{complaints: complaints} do
    assert complaints == []
  end

  for file <- Docs.files() do
    describe file do
      @describetag document: file

      test "shows blocks that a test knows", %{document: file} do
        for block <- Docs.blocks(file) do
          assert block.language in @languages, "#{at(block)}: language #{inspect(block.language)}"
        end
      end

      test "shows expressions that hold", %{document: file} do
        if file in Docs.guides(),
          do: Guide.walk(file, &step/1),
          else: for(block <- Docs.expressions(file), do: run(block, DocsCode.value(block)))
      end

      test "shows tests that pass", %{document: file} do
        for block <- Docs.blocks(file, ["elixir"]), DocsCode.tests?(block) do
          assert DocsCode.run_tests(block) > 0
        end
      end

      test "shows commands that exist", %{document: file} do
        for block <- Docs.blocks(file, ["console"]), "$ " <> line <- lines(block) do
          [command | _arguments] = OptionParser.split(line)
          assert command?(command), "#{at(block)}: there is no #{command}"
        end
      end

      test "shows JSON objects", %{document: file} do
        for block <- Docs.blocks(file, ["json"]), do: assert(is_map(Json.decode!(block.text)))
      end

      test "has links that lead somewhere", %{document: file} do
        for link <- Docs.links(file), do: assert(leads?(file, link), link)
      end

      test "names paths, modules and functions that exist", %{document: file} do
        for name <- Docs.names(file), do: assert(named?(name), inspect(name))
      end
    end
  end

  describe "the README's application" do
    test "is a dependency by its name" do
      [block | _others] = Docs.blocks("README.md", ["elixir"])
      assert [beam_mcp: _source] = apply(DocsCode.module_of(block), :deps, [])
      assert Mix.Project.config()[:app] == :beam_mcp
    end

    test "starts, and the call that is shown gets the answer that is shown" do
      {:ok, supervisor} = apply(MyApp.Application, :start, [:normal, []])

      [call] =
        for block <- Docs.blocks("README.md", ["console"]),
            "$ curl" <> call <- lines(block),
            do: call

      [answer | _others] = Docs.blocks("README.md", ["json"])

      assert %{status: 200, body: body} = curl(call, port(BeamMCP))
      assert Json.decode!(body) == Json.decode!(answer.text)
      Supervisor.stop(supervisor)
    end

    test "opens no port when it serves stdio" do
      [block] =
        for block <- Docs.blocks("README.md", ["elixir"]), block.text =~ "defp servers", do: block

      servers = fn -> apply(DocsCode.module_of(block), :servers, []) end
      assert [MyAppWeb.Endpoint, {BeamMCP, _options}] = servers.()
      System.put_env("BEAM_MCP_STDIO", "3,4")
      on_exit(fn -> System.delete_env("BEAM_MCP_STDIO") end)
      assert servers.() == []
    end

    test "starts from Erlang" do
      start_supervised!(apply(:my_mcp, :child_spec, []))
      result = result(BeamMCP, "add", ~s({"a":2,"b":3}))
      assert result["structuredContent"] == %{"sum" => 5}
    end

    test "asks for its token" do
      [child] =
        for block <- Docs.blocks("README.md", ["elixir"]),
            block.text =~ "Auth.check/1",
            do: DocsCode.value(block)

      start_supervised!(child)
      ask = &discover(MyApp.PublicMCP, [host: "mcp.example.com"] ++ &1)
      assert %{status: 401} = refused = ask.([])
      assert RawHTTP.header_values(refused, "www-authenticate") == ["Bearer"]
      assert ask.(authorization: "Bearer another").status == 401
      assert ask.(authorization: "Bearer #{@token}").status == 200
    end

    test "writes the file it was asked for" do
      start(dispatch: {MyApp.MCP.Exports, :call})
      assert %{"content" => [%{"text" => file}]} = result(__MODULE__, "export", "{}")
      assert File.read!(file) == "part 1\npart 2\npart 3\n"
      File.rm!(file)
    end
  end

  describe "what the README says" do
    test "becomes of each returned value" do
      start(dispatch: fn :run, %{code: code} -> code |> Code.eval_string() |> elem(0) end)

      for [returned, result] <- Docs.cells(Docs.between("README.md", "results")) do
        {:ok, arguments} = BeamMCP.Native.encode(%{code: Docs.code(returned)})
        shown = __MODULE__ |> result("run", arguments) |> Map.drop(["resultType", "_meta"])
        assert shown == Json.decode!(Docs.code(result)), returned
      end
    end

    test "is what bin/serve prints" do
      Code.require_file("examples/everything/lib/everything/banner.ex", Docs.path("."))

      example = ["http://127.0.0.1:4040/mcp", "/home/you/beam_mcp/bin/serve"]
      said = apply(Everything.Banner, :text, example)
      [shown | _others] = Docs.blocks("README.md", ["text"])
      assert String.trim(shown.text) == String.trim(said)
    end

    test "is the script that the example's tests run" do
      example = "examples/release_app/rel/overlays/bin/release_app-mcp"
      [script] = Docs.blocks("README.md", ["sh"])

      named =
        example
        |> Docs.path()
        |> File.read!()
        |> String.replace("ReleaseApp", "MyApp.MCP")
        |> String.replace("release_app", "my_app")

      assert without_comments(script.text) == without_comments(named)
    end

    test "are the defaults" do
      rows = Table.rows(:http) ++ Table.rows(:instance)
      defaults = Map.new(rows, &{Atom.to_string(&1.key), &1.default})

      for [option, default, _meaning] <- Docs.cells(Docs.between("README.md", "defaults")) do
        shown = default |> String.replace(",", "") |> String.to_integer()
        assert defaults[Docs.code(option)] == shown, option
      end
    end
  end

  test "docs/architecture.md has the error codes of the protocol" do
    source = File.read!(Docs.path("native/protocol/src/error.rs"))

    codes =
      for [_all, code, status] <- Regex.scan(~r/\(Code::\w+, (-\d+), (\d+)\)/, source),
          do: [code, status]

    table = Docs.cells(Docs.between("docs/architecture.md", "errors"))
    assert Enum.map(table, &Enum.take(&1, 2)) == codes
  end

  test "docs/guides/operating.md has every word of a refusal" do
    source = File.read!(Docs.path("native/protocol/src/word.rs"))
    words = for [_all, word] <- Regex.scan(~r/const \w+: &str = "(\w+)"/, source), do: word
    assert words("docs/guides/operating.md", "refusals") == Enum.sort(words)
  end

  test "docs/guides/authorization.md has every reason to refuse a caller" do
    source = File.read!(Docs.path("native/auth/src/reason.rs"))
    reasons = for [_all, word] <- Regex.scan(~r/^    \w+: "(\w+)", \d/m, source), do: word
    assert length(reasons) > 50
    assert Enum.uniq(reasons) -- words("docs/guides/authorization.md", "reasons") == []
  end

  describe "the tables of options" do
    for table <- [
          :instance,
          :http,
          :tls,
          :oauth,
          :issuer,
          :introspection,
          :stdio,
          :session_ets,
          :session_mnesia,
          :staged_ets,
          :staged_mnesia,
          :task_ets,
          :task_mnesia,
          :replay_ets,
          :replay_mnesia,
          :test,
          :observed
        ] do
      @tag table: table
      test "has the options of #{table} as they are", %{table: table} do
        expected = Docs.options(table)
        shown = Docs.between("docs/configuration.md", "options #{table}")
        assert shown == expected, "write between the markers:\n\n#{expected}"
      end
    end
  end

  # What the first column of a table names, each once.
  defp words(file, table) do
    named = for [first | _row] <- Docs.cells(Docs.between(file, table)), do: first
    words = for [_all, word] <- Regex.scan(~r/`(\w+)`/, Enum.join(named, " ")), do: word
    words |> Enum.uniq() |> Enum.sort()
  end

  # A child starts and stops; the URL of an instance that was started by hand serves.
  defp run(block, {module, options}) when module in [BeamMCP, BeamMCP.Transport.HTTP] do
    options =
      if module == BeamMCP.Transport.HTTP, do: Keyword.put_new(options, :port, 0), else: options

    start_supervised!({module, options}, id: block.line)
    :ok = stop_supervised(block.line)
  end

  defp run(_block, "http://127.0.0.1:" <> _port) do
    assert discover(BeamMCP, []).status == 200
    :ok = BeamMCP.stop()
  end

  defp run(_block, :ok), do: :ok
  defp run(block, value), do: flunk("#{at(block)} gives #{inspect(value)}: what should be so?")

  # The steps of a guide: each request goes to the instance that the guide has started.
  defp step({:start, _block, {module, options}}) do
    start_supervised!({module, options})
    Process.put(:instance, options[:name])
  end

  defp step({:hold, block, value}) do
    assert value in [:ok, true] or match?({:ok, _value}, value),
           "#{at(block)} gives #{inspect(value)}"
  end

  defp step({:request, block, request, shown}) do
    %{"method" => method, "params" => params} = Json.decode!(request)
    {:ok, members} = BeamMCP.Native.encode(params)
    inside = binary_part(members, 1, byte_size(members) - 2)
    name = params["name"] || params["uri"]

    response =
      RawHTTP.modern(port(Process.get(:instance)), method, inside, headers: [mcp_name: name])

    answer = Json.decode!(response.body)
    shown = Json.decode!(shown)
    answer = if shown["error"], do: answer, else: answer["result"]
    assert has?(answer, shown), "#{at(block)} is answered #{inspect(answer)}"
  end

  # Objects may have more than is shown of them; all else is as shown.
  defp has?(answer, shown) when is_map(answer) and is_map(shown) do
    Enum.all?(shown, fn {key, value} -> is_map_key(answer, key) and has?(answer[key], value) end)
  end

  defp has?(answer, shown) when is_list(answer) and is_list(shown) do
    length(answer) == length(shown) and
      Enum.all?(Enum.zip(answer, shown), fn {a, s} -> has?(a, s) end)
  end

  defp has?(answer, shown), do: answer == shown

  defp start(options) do
    http = [port: 0, authorize: :none, allowed_origins: []]
    start_supervised!({BeamMCP, [name: __MODULE__, catalog: Catalog, http: http] ++ options})
  end

  defp discover(name, headers) do
    RawHTTP.modern(port(name), "server/discover", "", headers: headers)
  end

  defp result(name, tool, arguments) do
    %{status: 200, body: body} = RawHTTP.call(port(name), tool, arguments)
    Json.decode!(body)["result"]
  end

  defp port(name) do
    [listener] = BeamMCP.info!(name).listeners
    BeamMCP.Listener.port(listener)
  end

  # The request of a curl command line, sent to `port`.
  defp curl(arguments, port) do
    {options, [url], []} =
      arguments
      |> OptionParser.split()
      |> OptionParser.parse(
        strict: [s: :boolean, header: :keep, data: :string],
        aliases: [s: :s, H: :header, d: :data]
      )

    headers =
      for {:header, header} <- options,
          [name, value] = String.split(header, ": ", parts: 2),
          do: {String.to_atom(name), value}

    body = options[:data]

    headers = [content_length: byte_size(body)] ++ headers
    RawHTTP.request(port, "POST", URI.parse(url).path, headers, body)
  end

  defp at(block), do: "#{block.file}:#{block.line}"

  defp lines(block), do: String.split(block.text, "\n", trim: true)

  defp without_comments(script), do: Regex.replace(~r/^#[^!].*\n|^#\n/m, script, "")

  # What it would send is sent without it.
  defp command?("curl"), do: true

  defp command?(command) do
    if command =~ "/",
      do: File.exists?(Docs.path(command)),
      else: System.find_executable(command) != nil
  end

  defp leads?(_file, "http" <> _rest), do: true

  defp leads?(file, link) do
    {path, anchor} =
      case String.split(link, "#") do
        ["", anchor] -> {file, anchor}
        [path, anchor] -> {file |> Path.dirname() |> Path.join(path), anchor}
        [path] -> {file |> Path.dirname() |> Path.join(path), nil}
      end

    File.exists?(Docs.path(path)) and (anchor == nil or anchor in Docs.anchors(path))
  end

  defp named?({:path, path}), do: File.exists?(Docs.path(path))
  defp named?({:module, module}), do: Code.ensure_loaded?(module)

  defp named?({:function, module, function, arity}) do
    Code.ensure_loaded?(module) and
      (function_exported?(module, function, arity) or callback?(module, {function, arity}))
  end

  defp callback?(module, function) do
    function_exported?(module, :behaviour_info, 1) and
      function in module.behaviour_info(:callbacks)
  end
end
