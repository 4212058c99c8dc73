defmodule BeamMCP.OffersTest do
  # Resources, templates, prompts and completions of a catalog module, seen from its clients.
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias BeamMCP.Fixture.Client
  alias BeamMCP.{Content, Error, Result}
  alias BeamMCP.{PromptArgument, PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}

  @http [authorize: :none, allowed_origins: [], port: 0]

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @uris ~w(text blob several large empty raise error safe missing failed wrong kill)

    @impl true
    def capabilities do
      %{
        tools: [%ToolSpec{name: "blocks"}, %ToolSpec{name: "safe"}],
        resources:
          for(name <- @uris, do: %ResourceSpec{uri: "r:#{name}", name: name, mime_type: "a/b"}),
        templates: [
          %ResourceTemplateSpec{uri_template: "files:{+path}", name: "file"},
          %ResourceTemplateSpec{uri_template: "words:{word}{?page}", name: "word"}
        ],
        prompts: [
          %PromptSpec{
            name: :ask,
            arguments: [
              %PromptArgument{name: :topic, required: true, completions: ["tea", "time"]},
              %PromptArgument{name: :tone}
            ]
          },
          %PromptSpec{
            name: "strings",
            argument_keys: :strings,
            arguments: [%PromptArgument{name: :a}]
          },
          %PromptSpec{name: "raise"}
        ]
      }
    end

    def call("blocks", _arguments, _context) do
      Result.tool([
        Content.image(<<0, 1>>, "image/png"),
        Content.audio({:base64, "AAE="}, "audio/wav"),
        Content.resource_link("r:text", "text"),
        Content.embedded_resource(Content.resource_blob("r:blob", <<255>>)),
        %{type: "image", data: "AAE=", mimeType: "image/png"}
      ])
    end

    def call("safe", _arguments, _context), do: {:error, Result.safe_error("not today", data: 1)}

    @impl true
    def read_resource("r:text", _context), do: {:ok, "text"}

    def read_resource("r:blob" = uri, _context),
      do: {:ok, Content.resource_blob(uri, <<251, 255>>)}

    def read_resource("r:several", _context) do
      Result.resource([%{text: "one"}, %{uri: "r:other", blob: {:bytes, <<1>>}, mimeType: "c/d"}],
        meta: %{"k" => 1},
        cache_ttl_ms: 5
      )
    end

    def read_resource("r:large" = uri, _context),
      do: {:ok, Content.resource_blob(uri, :binary.copy(<<7>>, 1_000_000))}

    def read_resource("r:empty", _context), do: {:ok, []}
    def read_resource("r:raise", _context), do: raise("on purpose")
    def read_resource("r:error", _context), do: {:error, "on holiday"}

    def read_resource("r:safe", _context),
      do: {:error, Result.safe_error("on holiday", data: %{until: ~D[2026-08-01]})}

    def read_resource("r:missing", _context), do: {:error, :not_found}
    def read_resource("r:failed", _context), do: {:error, :enoent}
    def read_resource("r:wrong", _context), do: {:ok, %{text: <<255>>}}
    def read_resource("r:kill", _context), do: Process.exit(self(), :kill)
    def read_resource("files:" <> path, _context), do: {:ok, path}
    def read_resource(uri, context), do: {:ok, "#{uri} by #{context.method}"}

    @impl true
    def get_prompt(:ask, %{topic: topic} = arguments, _context),
      do: {:ok, "About #{topic}: #{inspect(Map.delete(arguments, :topic))}"}

    def get_prompt("strings", arguments, _context), do: {:ok, inspect(arguments)}
    def get_prompt("raise", _arguments, _context), do: raise("on purpose")

    @impl true
    def complete(ref, argument, context) do
      Result.completion(["#{inspect(ref)} #{inspect(argument)} #{context.method}"], total: 7)
    end
  end

  setup test do
    name = test.test
    options = [name: name, catalog: Catalog, dispatch: &Catalog.call/3, http: @http]
    start_supervised!({BeamMCP, options ++ Map.get(test, :options, [])})
    %{name: name, socket: Client.connect(name)}
  end

  defp read(socket, uri, options \\ []) do
    headers = [{"mcp-name", uri}]

    {200, body} =
      Client.request(socket, "resources/read", ~s("uri":"#{uri}"), [headers: headers] ++ options)

    body
  end

  defp get(socket, prompt, arguments) do
    params = ~s("name":"#{prompt}","arguments":#{arguments})
    {200, body} = Client.request(socket, "prompts/get", params, headers: [{"mcp-name", prompt}])
    body
  end

  describe "a read" do
    test "has the text, under the URI and with the MIME type that it was declared with", test do
      assert read(test.socket, "r:text") =~
               ~s("contents":[{"uri":"r:text","mimeType":"a/b","text":"text"}])
    end

    test "makes standard Base64 of bytes (X17)", test do
      assert read(test.socket, "r:blob") =~ ~s("blob":"+/8=")
      large = read(test.socket, "r:large")
      assert large =~ Base.encode64(:binary.copy(<<7>>, 1_000_000))
    end

    test "has several contents, meta and cache hints", test do
      body = read(test.socket, "r:several")
      assert body =~ ~s({"uri":"r:several","mimeType":"a/b","text":"one"})
      assert body =~ ~s({"uri":"r:other","mimeType":"c/d","blob":"AQ=="})
      assert body =~ ~s("ttlMs":5)
      assert body =~ ~s("cacheScope":"private")
      assert body =~ ~s("k":1)
    end

    test "of a template has its values, and leads nowhere else", test do
      assert read(test.socket, "words:a%20b?page=2") =~ "words:a%20b?page=2 by resources/read"
      assert read(test.socket, "files:a/b.txt") =~ ~s("text":"a/b.txt")

      for uri <- ["words:a%2Fb", "files:a/../b", "files:%2e%2e/b"] do
        assert read(test.socket, uri) =~ ~s("code":-32602)
      end
    end

    test "that fails says so, in words when they are meant for the caller", test do
      {bodies, log} =
        with_log(fn ->
          for name <- ~w(error safe missing failed), do: read(test.socket, "r:" <> name)
        end)

      assert [error, safe, missing, failed] = bodies
      assert error =~ ~s("code":-32603)
      assert error =~ "on holiday"
      assert safe =~ ~s("data":{"until":"2026-08-01"})
      assert missing =~ ~s("code":-32602)
      assert missing =~ ~s("uri":"r:missing")
      assert failed =~ ~s("code":-32603)
      refute failed =~ "enoent"
      refute log =~ "[error]"
    end

    test "that is a fault of the host is answered with a fixed text and logged", test do
      for {name, logged} <- [
            raise: ~s(resource "r:raise" failed: RuntimeError: on purpose),
            empty: ~s(resource "r:empty" failed: ArgumentError: expected {:ok, text}),
            wrong: ~s(resource "r:wrong" returned what cannot be sent),
            kill: ~s("r:kill": the process that ran the handler ended without an answer)
          ] do
        {body, log} =
          with_log(fn ->
            body = read(test.socket, "r:#{name}")
            Process.sleep(50)
            body
          end)

        assert body =~ ~s("code":-32603)
        refute body =~ "purpose"
        assert log =~ logged
      end
    end
  end

  describe "a prompt" do
    test "gets declared arguments under atoms, others under strings", test do
      body = get(test.socket, "ask", ~s({"topic":"tea","tone":"dry","more":"x"}))
      assert body =~ ~S(About tea: %{:tone => \"dry\", \"more\" => \"x\"})
      assert get(test.socket, "strings", ~s({"a":"1"})) =~ ~S(%{\"a\" => \"1\"})
    end

    test "without a required argument, or with a number, is refused", test do
      assert get(test.socket, "ask", "{}") =~ ~s("code":-32602)
      assert get(test.socket, "ask", ~s({"topic":7})) =~ ~s("code":-32602)
      assert get(test.socket, "unknown", "{}") =~ ~s("code":-32602)
    end

    test "that raises is answered with a fixed text and logged", test do
      {body, log} = with_log(fn -> get(test.socket, "raise", "{}") end)
      assert body =~ ~s("code":-32603)
      assert log =~ ~s(prompt "raise" failed: RuntimeError: on purpose)
    end
  end

  describe "a completion" do
    test "is the argument's own, or the catalog's", test do
      complete = fn name, value ->
        params =
          ~s("ref":{"type":"ref/prompt","name":"ask"},) <>
            ~s("argument":{"name":"#{name}","value":"#{value}"},) <>
            ~s("context":{"arguments":{"topic":"tea"}})

        {200, body} = Client.request(test.socket, "completion/complete", params)
        body
      end

      assert complete.("topic", "te") =~ ~s("values":["tea"])
      body = complete.("tone", "d")
      assert body =~ ~S({:prompt, \"ask\"})
      assert body =~ ~S(arguments: %{\"topic\" => \"tea\"})
      assert body =~ ~S(value: \"d\")
      assert body =~ ~s("total":7)
    end
  end

  describe "a tool" do
    test "returns blocks of every kind", test do
      {200, body} = Client.call(test.socket, "blocks")
      assert length(String.split(body, ~s("data":"AAE="))) == 4
      assert body =~ ~s("audio/wav")
      assert body =~ ~s("blob":"/w==")
    end

    test "shows a safe error", test do
      {200, body} = Client.call(test.socket, "safe")
      assert body =~ ~s("isError":true)
      assert body =~ "not today"
    end
  end

  test "info counts what there is", test do
    assert {:ok, %{tools: 2, resources: 12, templates: 2, prompts: 3, completions: 1}} =
             BeamMCP.info(test.name)
  end

  test "a definition that nothing runs is refused at start, by kind and name" do
    defmodule Mute do
      def capabilities do
        %{
          tools: [%ToolSpec{name: "t"}],
          resources: [%ResourceSpec{uri: "a:b", name: "a"}],
          templates: [%ResourceTemplateSpec{uri_template: "a:{b}", name: "a"}],
          prompts: [%PromptSpec{name: "p"}]
        }
      end
    end

    Process.flag(:trap_exit, true)

    {{:error, %Error{kind: :catalog} = error}, _log} =
      with_log(fn -> BeamMCP.start_link(name: :mute, catalog: Mute) end)

    assert for(fault <- error.details, do: {fault.kind, fault.definition, fault.place}) == [
             {:tool, "t", "handler"},
             {:resource, "a:b", "handler"},
             {:template, "a:{b}", "handler"},
             {:prompt, "p", "handler"}
           ]
  end

  describe "a catalog that depends on the caller" do
    defmodule Own do
      @moduledoc false
      @behaviour BeamMCP.Catalog

      @impl true
      def capabilities, do: %{tools: [], resources: [], prompts: []}

      @impl true
      def capabilities(context) do
        method = context.method

        %{
          tools: [%ToolSpec{name: "own", handler: fn _arguments -> {:ok, "own tool"} end}],
          resources: [
            %ResourceSpec{uri: "own:1", name: "own"},
            %ResourceSpec{uri: "own: 2", name: "faulty"}
          ],
          templates: [
            %ResourceTemplateSpec{
              uri_template: "own:{x}/{y}",
              name: "own",
              handler: fn %{params: params} -> {:ok, inspect(params)} end
            }
          ],
          prompts: [
            %PromptSpec{
              name: :own,
              arguments: [%PromptArgument{name: :a, completions: ["a1", "b1"]}],
              handler: fn %{arguments: arguments} -> {:ok, method <> inspect(arguments)} end
            }
          ]
        }
      end

      @impl true
      def read_resource("own:1", _context), do: {:ok, "read"}
    end

    test "offers everything, with handlers of its own and string keys", test do
      name = {test.test, :own}
      start_supervised!({BeamMCP, name: name, catalog: Own, http: @http})
      socket = Client.connect(name)

      log =
        capture_log(fn ->
          assert read(socket, "own:1") =~ ~s("text":"read")
          assert read(socket, "own:a/b") =~ ~S(%{\"x\" => \"a\", \"y\" => \"b\"})
          assert get(socket, "own", ~s({"a":"1"})) =~ ~S(prompts/get%{\"a\" => \"1\"})
          assert {200, body} = Client.call(socket, "own")
          assert body =~ "own tool"

          params =
            ~s("ref":{"type":"ref/prompt","name":"own"},"argument":{"name":"a","value":"a"})

          assert {200, body} = Client.request(socket, "completion/complete", params)
          assert body =~ ~s("values":["a1"])
        end)

      assert log =~ ~s(left out: resource "own: 2", uri: must be an absolute URI)
    end
  end

  describe "caching" do
    @tag options: [
           cache_ttl_ms: [tools: 5, contents: 7],
           cache_scope: :public,
           allow_public_cache: true
         ]
    test "is told by category", test do
      {200, tools} = Client.request(test.socket, "tools/list")
      assert tools =~ ~s("ttlMs":5)
      assert tools =~ ~s("cacheScope":"public")
      {200, prompts} = Client.request(test.socket, "prompts/list")
      assert prompts =~ ~s("ttlMs":0)
      contents = read(test.socket, "r:text")
      assert contents =~ ~s("ttlMs":7)
      assert contents =~ ~s("cacheScope":"private")
    end

    @tag options: [cache_scope: [contents: :public], allow_public_cache: true]
    test "in public is for what is read too, where nothing nearer says otherwise", test do
      assert read(test.socket, "r:text") =~ ~s("cacheScope":"public")
      assert read(test.socket, "r:several") =~ ~s("cacheScope":"public")
    end

    test "in public needs the host's permission" do
      assert_raise ArgumentError,
                   ~r/cache_scope: `:public` needs `allow_public_cache: true`/,
                   fn ->
                     BeamMCP.start_link(name: :public, cache_scope: [tools: :public])
                   end
    end
  end
end
