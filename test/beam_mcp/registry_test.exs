defmodule BeamMCP.RegistryTest do
  # Definitions that come and go while an instance runs, seen from its clients. One tool is always
  # there: an instance without any has no such methods.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  alias BeamMCP.Fixture.Client
  alias BeamMCP.{Error, Instance}
  alias BeamMCP.{PromptArgument, PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}

  @http [authorize: :none, allowed_origins: [], port: 0]

  defmodule Static do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      %{
        tools: :persistent_term.get(__MODULE__, [%ToolSpec{name: "static", handler: &static/1}]),
        resources: [],
        prompts: []
      }
    end

    def static(_arguments), do: {:ok, "static"}
  end

  setup test do
    options = Map.get(test, :options, registrations: [{:tool, tool("kept"), {Static, :static}}])
    start_supervised!({BeamMCP, [name: test.test, http: @http] ++ options})
    %{name: test.test, socket: Client.connect(test.test)}
  end

  defp tool(name, more \\ []), do: struct!(%ToolSpec{name: name}, more)
  defp saying(text), do: fn _arguments -> {:ok, text} end

  defp call(socket, tool, arguments \\ "{}") do
    {200, body} = Client.call(socket, tool, arguments)
    body
  end

  defp read(socket, uri), do: named(socket, "resources/read", "uri", uri)
  defp get(socket, prompt), do: named(socket, "prompts/get", "name", prompt)

  defp named(socket, method, member, name) do
    params = ~s("#{member}":"#{name}")
    {200, body} = Client.request(socket, method, params, headers: [{"mcp-name", name}])
    body
  end

  defp complete(socket, ref, argument, value) do
    params = ~s("ref":#{ref},"argument":{"name":"#{argument}","value":"#{value}"})
    {200, body} = Client.request(socket, "completion/complete", params)
    body
  end

  defp listed(socket, method \\ "tools/list") do
    {200, body} = Client.request(socket, method)
    for [_all, name] <- Regex.scan(~r/"(?:name|uri|uriTemplate)":"([^"]+)"/, body), do: name
  end

  defp tools(socket), do: listed(socket) -- ["beam_mcp", "kept"]

  describe "an instance without a catalog" do
    test "offers what is registered", %{name: name, socket: socket} do
      assert call(socket, "ping") =~ "-32602"
      assert BeamMCP.register_tool(name, tool("ping"), saying("pong")) == :ok
      assert call(socket, "ping") =~ ~s("text":"pong")

      resource = %ResourceSpec{uri: "a:b", name: "ab", mime_type: "text/plain"}
      assert BeamMCP.register_resource(name, resource, fn %{uri: uri} -> {:ok, uri} end) == :ok
      assert read(socket, "a:b") =~ ~s("text":"a:b")

      template = %ResourceTemplateSpec{uri_template: "t:{x}", name: "t"}
      handler = fn %{params: %{"x" => x}}, context -> {:ok, x <> context.method} end
      assert BeamMCP.register_template(name, template, handler) == :ok
      assert read(socket, "t:a%20b") =~ ~s("text":"a bresources/read")

      prompt = %PromptSpec{name: :hello, arguments: [%PromptArgument{name: :any}]}
      assert BeamMCP.register_prompt(name, prompt, fn %{name: :hello} -> {:ok, "hi"} end) == :ok
      assert get(socket, "hello") =~ ~s("text":"hi")

      assert BeamMCP.register_completion(name, {:prompt, "hello"}, ["aa", "ab", "b"]) == :ok
      ref = ~s({"type":"ref/prompt","name":"hello"})
      assert complete(socket, ref, "any", "a") =~ ~s("values":["aa","ab"])

      assert {:ok, %{tools: 2, resources: 1, templates: 1, prompts: 1, completions: 1}} =
               BeamMCP.info(name)
    end

    test "starts with its registrations", %{name: name, socket: socket} do
      assert call(socket, "kept") =~ "static"
      assert BeamMCP.unregister(name, :tool, "kept") == :ok
      assert {404, body} = Client.call(socket, "kept")
      assert body =~ "-32601"
    end

    test "gives its handlers what is declared as atoms, or strings where they ask", test do
      schema = %{"type" => "object", "properties" => %{"a" => %{}, "b" => %{}}}
      handler = fn arguments -> {:ok, inspect(arguments)} end
      :ok = BeamMCP.register_tool(test.name, tool("atoms", input_schema: schema), handler)

      strings = tool("strings", input_schema: schema, argument_keys: :strings)
      :ok = BeamMCP.register_tool(test.name, strings, handler)

      assert call(test.socket, "atoms", ~s({"a":1})) =~ "%{a: 1}"
      assert call(test.socket, "strings", ~s({"a":1})) =~ ~S(%{\"a\" => 1})
    end

    test "is refused a definition that nothing runs", %{name: name} do
      assert {:error, %Error{kind: :catalog, details: faults}} =
               BeamMCP.register_all(name, [
                 {:tool, tool("a")},
                 {:resource, %ResourceSpec{uri: "a:b", name: "a"}},
                 {:prompt, %PromptSpec{name: "a"}}
               ])

      assert for(fault <- faults, do: {fault.kind, fault.place}) == [
               tool: "handler",
               resource: "handler",
               prompt: "handler"
             ]
    end

    test "is told what the native library finds wrong, by kind and name", %{name: name} do
      assert {:error, %Error{kind: :catalog, details: faults}} =
               BeamMCP.register_all(name, [
                 {:template, %ResourceTemplateSpec{uri_template: "a:{b", name: "a"}, saying("")},
                 {:tool, tool("c", input_schema: %{"type" => "array"}), saying("")}
               ])

      assert [%{kind: :template, definition: "a:{b"}, %{kind: :tool, definition: "c"}] =
               Enum.sort_by(faults, & &1.kind)
    end
  end

  describe "replacing" do
    test "a definition leaves calls in flight on the old one", %{name: name, socket: socket} do
      test = self()

      slow = fn _arguments ->
        send(test, {:running, self()})

        receive do
          :go_on -> {:ok, "old"}
        end
      end

      :ok = BeamMCP.register_tool(name, tool("slow"), slow)
      Client.send_call(socket, "slow")
      assert_receive {:running, pid}, 5_000

      :ok = BeamMCP.register_tool(name, tool("slow"), saying("new"))
      assert call(Client.connect(name), "slow") =~ "new"
      :ok = BeamMCP.unregister(name, :tool, "slow")
      assert call(Client.connect(name), "slow") =~ "-32602"

      send(pid, :go_on)
      assert {200, body} = Client.response(socket)
      assert body =~ ~s("text":"old")
    end

    test "keeps the place in the list", %{name: name, socket: socket} do
      for each <- ~w(a b c), do: :ok = BeamMCP.register_tool(name, tool(each), saying(each))
      :ok = BeamMCP.register_tool(name, tool("b", title: "B"), saying("b"))
      assert tools(socket) == ~w(a b c)
    end

    test "lets go of handlers that nothing holds any more", %{name: name, socket: socket} do
      %{handlers: table} = Instance.fetch!(name)
      for index <- 1..20, do: :ok = BeamMCP.register_tool(name, tool("a"), saying("#{index}"))
      assert call(socket, "a") =~ "20"
      wait_until(fn -> :ets.info(table, :size) == 2 end)
      :ok = BeamMCP.unregister(name, :tool, "a")
      wait_until(fn -> :ets.info(table, :size) == 1 end)
    end

    test "takes along what completes a prompt's arguments", %{name: name, socket: socket} do
      ref = ~s({"type":"ref/prompt","name":"p"})
      prompt = &%PromptSpec{name: "p", arguments: &1, handler: saying("")}
      argument = &%PromptArgument{name: &1, completions: [&2]}

      :ok = BeamMCP.register_all(name, [{:prompt, prompt.([argument.("a", "1")])}])
      assert complete(socket, ref, "a", "") =~ ~s("values":["1"])

      :ok = BeamMCP.register_all(name, [{:prompt, prompt.([argument.("b", "2")])}])
      assert complete(socket, ref, "b", "") =~ ~s("values":["2"])
      assert {:ok, %{completions: 1}} = BeamMCP.info(name)

      assert {:error, %Error{kind: :not_registered} = error} =
               BeamMCP.unregister(name, :completion, {:prompt, "p", "b"})

      assert Exception.message(error) =~ ~s(belongs to the prompt "p")

      assert {:error, %Error{kind: :catalog}} =
               BeamMCP.register_completion(name, {:prompt, "p", "b"}, [])

      :ok = BeamMCP.unregister(name, :prompt, "p")
      assert {:ok, %{completions: 0, prompts: 0}} = BeamMCP.info(name)
    end
  end

  describe "a list of registrations" do
    test "is registered whole or not at all", %{name: name, socket: socket} do
      :ok = BeamMCP.register_tool(name, tool("kept"), saying("kept"))
      digest = BeamMCP.info!(name).catalog_digest

      for wrong <- [
            tool("not a name"),
            tool("kept", input_schema: %{"type" => "array"}),
            tool("twice")
          ] do
        list = for spec <- [tool("twice"), tool("kept"), wrong], do: {:tool, spec, saying("new")}
        assert {:error, %Error{kind: :catalog}} = BeamMCP.register_all(name, list)
      end

      assert BeamMCP.info!(name).catalog_digest == digest
      assert call(socket, "kept") =~ ~s("text":"kept")
      wait_until(fn -> :ets.info(Instance.fetch!(name).handlers, :size) == 1 end)
    end

    test "becomes all that is registered", %{name: name, socket: socket} do
      for each <- ~w(a b c), do: :ok = BeamMCP.register_tool(name, tool(each), saying(each))
      list = for each <- ~w(d c a), do: {:tool, tool(each), {__MODULE__, :replaced}}
      assert BeamMCP.replace_catalog(name, list) == :ok
      assert tools(socket) == ~w(d c a)
      assert call(socket, "a") =~ "replaced"
      assert call(socket, "b") =~ "-32602"

      assert {:error, %Error{kind: :catalog}} =
               BeamMCP.replace_catalog(name, [{:tool, tool("?"), saying("")}])

      assert tools(socket) == ~w(d c a)
      assert BeamMCP.replace_catalog(name, [{:prompt, %PromptSpec{name: "p"}, saying("")}]) == :ok
      assert {:ok, %{tools: 0, prompts: 1}} = BeamMCP.info(name)
    end

    test "changes nothing when it is what is registered already", %{name: name} do
      list = for each <- ~w(a b), do: {:tool, tool(each), {__MODULE__, :replaced}}
      :ok = BeamMCP.replace_catalog(name, list)
      %{handlers: table} = Instance.fetch!(name)
      wait_until(fn -> :ets.info(table, :size) == 2 end)
      before = Enum.sort(:ets.tab2list(table))
      assert BeamMCP.replace_catalog(name, list) == :ok
      assert Enum.sort(:ets.tab2list(table)) == before
    end
  end

  def replaced(_arguments), do: {:ok, "replaced"}

  describe "beside a catalog module" do
    @describetag options: [catalog: Static]

    test "what is registered comes after the module's own, and stays when that changes", test do
      %{name: name, socket: socket} = test
      for each <- ~w(a b), do: :ok = BeamMCP.register_tool(name, tool(each), saying(each))
      assert tools(socket) == ~w(static a b)

      put_static(~w(second first))
      assert BeamMCP.catalog_changed(name) == :ok
      assert tools(socket) == ~w(second first a b)
      assert call(socket, "a") =~ ~s("text":"a")

      assert BeamMCP.replace_catalog(name, [{:tool, tool("c"), saying("c")}]) == :ok
      assert tools(socket) == ~w(second first c)
    end

    test "the module's own cannot be replaced or taken away", %{name: name} do
      message = "is declared by the catalog module"
      registration = [{:tool, tool("static"), saying("")}]

      for change <- [&BeamMCP.register_all/2, &BeamMCP.replace_catalog/2] do
        assert {:error, %Error{details: [%{definition: "static", place: "name"} = fault]}} =
                 change.(name, registration)

        assert fault.message == message
      end

      assert {:error, %Error{kind: :not_registered} = error} =
               BeamMCP.unregister(name, :tool, "static")

      assert Exception.message(error) =~ message
    end

    test "a module that declares what is registered is refused", test do
      %{name: name, socket: socket} = test
      :ok = BeamMCP.register_tool(name, tool("a"), saying("a"))
      put_static(["a"])
      assert {:error, %Error{kind: :catalog} = error} = BeamMCP.catalog_changed(name)
      assert Exception.message(error) =~ ~s(tool "a", name: is used by 2 tools)
      assert tools(socket) == ~w(static a)
    end
  end

  describe "a crash" do
    @describetag options: [catalog: Static]

    test "of the catalog process loses nothing", %{name: name, socket: socket} do
      for each <- ~w(a b), do: :ok = BeamMCP.register_tool(name, tool(each), saying(each))
      kill(name, BeamMCP.Catalog.Server)
      assert tools(socket) == ~w(static a b)
      assert call(socket, "a") =~ ~s("text":"a")

      :ok = BeamMCP.register_tool(name, tool("c"), saying("c"))
      :ok = BeamMCP.unregister(name, :tool, "a")
      assert tools(socket) == ~w(static b c)
      wait_until(fn -> :ets.info(Instance.fetch!(name).handlers, :size) == 3 end)
    end

    test "of every dispatcher loses nothing", %{name: name, socket: socket} do
      :ok = BeamMCP.register_tool(name, tool("a"), saying("a"))

      before = dispatchers(name)
      for pid <- before, do: Process.exit(pid, :kill)

      wait_until(fn ->
        dispatchers(name) -- before != [] and BeamMCP.info!(name).dispatchers == length(before)
      end)

      assert call(socket, "a") =~ ~s("text":"a")
    end
  end

  test "definitions have digests of their own", %{name: name} do
    assert {:ok, %{digest: digest, tools: [{"kept", one}]}} = BeamMCP.info(name, :definitions)
    assert digest == BeamMCP.info!(name).catalog_digest
    :ok = BeamMCP.register_tool(name, tool("b"), saying("b"))
    assert {:ok, %{tools: [{"kept", ^one}, {"b", _}]}} = BeamMCP.info(name, :definitions)
    assert BeamMCP.info!(name).catalog_digest != digest
  end

  test "nothing that is registered is named by what is no key", %{name: name} do
    for {kind, key} <- [tool: "a", tool: 7, resource: :a, completion: "p", anything: "a"] do
      assert {:error, %Error{kind: :not_registered}} = BeamMCP.unregister(name, kind, key)
    end

    assert {:error, %Error{kind: :not_running}} = BeamMCP.unregister(:nobody, :tool, "a")
    assert {:error, %Error{kind: :not_running}} = BeamMCP.register_all(:nobody, [])
  end

  defp put_static(names) do
    tools = for name <- names, do: %ToolSpec{name: name, handler: &Static.static/1}
    :persistent_term.put(Static, tools)
    on_exit(fn -> :persistent_term.erase(Static) end)
  end

  defp kill(name, role) do
    [{pid, _value}] = Registry.lookup(BeamMCP.Registry, {name, role})
    Process.exit(pid, :kill)

    wait_until(fn ->
      match?([{new, _}] when new != pid, Registry.lookup(BeamMCP.Registry, {name, role}))
    end)
  end

  defp dispatchers(name) do
    [{supervisor, _value}] = Registry.lookup(BeamMCP.Registry, {name, :supervisor})
    {:services, services, _type, _modules} = child(supervisor, :services)
    {:dispatchers, dispatchers, _type, _modules} = child(services, :dispatchers)
    for {_id, pid, :worker, _modules} <- Supervisor.which_children(dispatchers), do: pid
  end

  defp child(supervisor, id), do: List.keyfind(Supervisor.which_children(supervisor), id, 0)
end
