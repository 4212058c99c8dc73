defmodule BeamMCP.TestTest do
  # The client that hosts test with, against a host of every kind of definition.
  use ExUnit.Case, async: true

  alias BeamMCP.{Context, PromptArgument, PromptSpec, ResourceSpec, ResourceTemplateSpec}
  alias BeamMCP.{Test, ToolSpec}

  defmodule Host do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      %{
        tools: Enum.map(~w(import whoami wait fail)a, &%ToolSpec{name: &1}),
        resources: for(n <- 1..5, do: %ResourceSpec{uri: "notes:#{n}", name: "note #{n}"}),
        templates: [
          %ResourceTemplateSpec{
            uri_template: "notes:{year}/{id}",
            name: "note",
            completions: %{id: &__MODULE__.complete/1}
          }
        ],
        prompts: [
          %PromptSpec{
            name: :review,
            arguments: [
              %PromptArgument{name: :language, required: true, completions: ["elixir", "erlang"]}
            ]
          }
        ]
      }
    end

    @impl true
    def read_resource("notes:missing/" <> _id, _context), do: {:error, :not_found}
    def read_resource(uri, _context), do: {:ok, "Contents of #{uri}"}

    @impl true
    def get_prompt(:review, %{language: language}, _context), do: {:ok, "Review #{language}."}

    def complete(%{value: value, context: %{arguments: %{"year" => year}}}),
      do: {:ok, ["#{year}-#{value}"]}

    def call(:import, _arguments, context) do
      for row <- 1..3, do: :ok = Context.progress(context, row, 3)
      :ok = Context.log(context, :debug, "done", logger: "import")
      :ok = Context.notify(context, "notifications/acme/imported", %{rows: 3})
      {:ok, "imported"}
    end

    def call(:whoami, _arguments, context) do
      {:ok,
       %{
         who: inspect({context.principal, context.scopes, context.sender}),
         client: context.client_info,
         capabilities: context.client_capabilities,
         meta: context.meta,
         callers: inspect(Process.get(:"$callers"))
       }}
    end

    def call(:wait, _arguments, context) do
      [test | _callers] = Process.get(:"$callers")
      Context.on_cancel(context, fn -> send(test, {:cancelled, context.request_id}) end)
      send(test, {:waiting, self()})

      receive do
        :go_on -> {:ok, "waited"}
      end
    end

    def call(:fail, _arguments, _context), do: {:error, "no such place"}
  end

  @instance [catalog: Host, dispatch: &Host.call/3, page_size: 2, cancel_grace_ms: 200]
  @revisions ["2026-07-28", "2025-11-25", "2025-06-18"]

  for revision <- @revisions do
    describe revision do
      setup do
        {:ok, client: Test.start!(@instance, revision: unquote(revision))}
      end

      test "lists all pages", %{client: client} do
        assert {:ok, tools} = Test.list_tools(client)
        assert Enum.map(tools, & &1["name"]) == ~w(import whoami wait fail)
        assert {:ok, [_, _, _, _, %{"uri" => "notes:5"}]} = Test.list_resources(client)
        assert {:ok, [%{"uriTemplate" => "notes:{year}/{id}"}]} = Test.list_templates(client)
        assert {:ok, [%{"name" => "review"}]} = Test.list_prompts(client)
      end

      test "hears of changes", %{client: client} do
        assert {:ok, listening} = Test.listen(client, [:prompts, "notes:1"])
        Test.notifications(client)
        :ok = BeamMCP.notify_resource_updated(client.instance, "notes:1")
        assert_receive {:mcp, ^client, "notifications/resources/updated", %{"uri" => "notes:1"}}
        :ok = BeamMCP.notify_changed(client.instance, :prompts)
        assert_receive {:mcp, ^client, "notifications/prompts/list_changed", _params}

        assert Test.stop_listening(listening) == :ok
        # What comes after the request is heard of after its end.
        assert {:ok, _tools} = Test.list_tools(client)
        :ok = BeamMCP.notify_resource_updated(client.instance, "notes:1")
        refute_receive {:mcp, ^client, "notifications/resources/updated", _params}, 50

        assert {:error, %{code: -32_602}} = Test.listen(client, ["no URI"])
      end

      test "calls, reads, fills in and completes", %{client: client} do
        assert {:ok, %{"content" => [%{"text" => "imported"}]}} = Test.call_tool(client, :import)

        assert {:ok, %{"contents" => [%{"uri" => "notes:1", "text" => "Contents of notes:1"}]}} =
                 Test.read_resource(client, "notes:1")

        assert {:ok, %{"messages" => [%{"content" => %{"text" => "Review elixir."}}]}} =
                 Test.get_prompt(client, "review", %{language: "elixir"})

        assert {:ok, %{"completion" => %{"values" => ["elixir"]}}} =
                 Test.complete(client, {:prompt, "review", "language"}, "eli")

        assert {:ok, %{"completion" => %{"values" => ["2026-7"]}}} =
                 Test.complete(client, {:resource, "notes:{year}/{id}", "id"}, "7", %{
                   year: "2026"
                 })
      end

      test "tells a tool's failure from an error", %{client: client} do
        assert {:ok, %{"isError" => true, "content" => [%{"text" => "no such place"}]}} =
                 Test.call_tool(client, "fail")

        assert {:error, %{code: -32_602, message: message}} = Test.call_tool(client, "fial")
        assert message =~ "fial"
        uri = "notes:missing/1"
        assert {:error, %{code: code, data: data}} = Test.read_resource(client, uri)
        assert code == if(client.revision == "2026-07-28", do: -32_602, else: -32_002)
        assert data["uri"] == uri
      end

      test "has what a call tells before its answer", %{client: client} do
        assert {:ok, _result} = Test.call_tool(client, "import")
        assert_received {:mcp, ^client, "notifications/progress", %{"progress" => 1}}
        assert [%{"progress" => 2, "total" => 3}, %{"progress" => 3}] = Test.progress(client)
        log = %{"level" => "debug", "logger" => "import", "data" => "done"}
        assert Test.logs(client) == [log]
        assert Test.notifications(client) == [{"notifications/acme/imported", %{"rows" => 3}}]
        assert Test.notifications(client) == []
      end

      test "reads what it asks for", %{client: %{instance: instance}} do
        options = [revision: unquote(revision), progress: false, log_level: :error]
        client = Test.connect!(instance, options)
        assert {:ok, _result} = Test.call_tool(client, "import")
        assert [{"notifications/acme/imported", _params}] = Test.notifications(client)
        assert {:ok, %{}} = Test.set_log_level(client, :debug)
        assert {:ok, _result} = Test.call_tool(client, "import")
        assert [%{"data" => "done"}] = Test.logs(client)
      end

      test "cancels, and goes away", %{client: client} do
        request = Test.send_request(client, "tools/call", %{name: "wait"})
        assert_receive {:waiting, pid}, 2_000
        ref = Process.monitor(pid)
        :ok = Test.cancel(request, "enough")
        assert Test.await(request) == :cancelled
        assert_receive {:cancelled, _id}, 2_000
        assert_receive {:DOWN, ^ref, :process, ^pid, :killed}, 2_000

        Test.send_request(client, "tools/call", %{name: "wait"})
        assert_receive {:waiting, pid}, 2_000
        ref = Process.monitor(pid)
        :ok = Test.close(client)
        assert_receive {:cancelled, _id}, 2_000
        assert_receive {:DOWN, ^ref, :process, ^pid, :killed}, 2_000
        assert_raise RuntimeError, ~r/has ended/, fn -> Test.list_tools(client) end
      end

      test "waits for requests in any order", %{client: client} do
        slow = Test.send_request(client, "tools/call", %{name: "wait"})
        assert_receive {:waiting, pid}, 2_000
        quick = for _ <- 1..100, do: Test.send_request(client, "tools/call", %{name: "fail"})
        for request <- quick, do: assert({:ok, %{"isError" => true}} = Test.await(request))
        send(pid, :go_on)
        assert {:ok, %{"content" => [%{"text" => "waited"}]}} = Test.await(slow)
        assert_raise ArgumentError, ~r/taken before/, fn -> Test.await(slow) end
      end
    end
  end

  test "an introduction for each era" do
    modern = Test.start!(@instance)

    assert {:ok, %{"capabilities" => %{"tools" => _}, "supportedVersions" => @revisions}} =
             Test.discover(modern)

    assert {:error, %{code: -32_601}} = Test.initialize(modern)
    assert {:error, %{code: -32_601}} = Test.ping(modern)

    for revision <- ["2025-11-25", "2025-06-18"] do
      legacy = Test.connect!(modern.instance, revision: revision)
      assert {:ok, %{"protocolVersion" => ^revision}} = Test.initialize(legacy)
      assert {:ok, empty} = Test.ping(legacy)
      assert empty == %{}
      assert {:error, %{code: -32_601}} = Test.discover(legacy)
    end
  end

  test "a caller of any name" do
    %{instance: instance} = Test.start!(@instance)

    for revision <- @revisions do
      client =
        Test.connect!(instance,
          revision: revision,
          principal: {:user, 7},
          scopes: ["mcp:tools:call", "notes:read"],
          client_info: %{name: "a client", version: "2"},
          capabilities: %{roots: %{}}
        )

      assert {:ok, %{"structuredContent" => seen}} =
               Test.call_tool(client, "whoami", %{}, meta: %{"acme/trace" => 1})

      assert seen["who"] == ~s({{:user, 7}, ["mcp:tools:call", "notes:read"], nil})
      assert %{"name" => "a client"} = seen["client"]
      assert seen["capabilities"] == %{"roots" => %{}}
      assert %{"acme/trace" => 1} = seen["meta"]
      assert seen["callers"] =~ inspect(self())
    end
  end

  test "a caller of no name" do
    client = Test.start!(@instance)
    assert {:ok, %{"structuredContent" => seen}} = Test.call_tool(client, "whoami")
    assert seen["who"] == "{:anonymous, nil, nil}"
  end

  test "calls on behalf of the process that started the test's" do
    test = self()

    Task.async(fn ->
      client = Test.start!(@instance)
      {:ok, %{"structuredContent" => seen}} = Test.call_tool(client, "whoami")
      assert seen["callers"] == inspect([self(), test])
    end)
    |> Task.await()
  end

  test "an instance under the test's supervisor" do
    name = {__MODULE__, make_ref()}
    start_supervised!({BeamMCP, [name: name] ++ @instance})
    client = Test.connect!(name)
    assert client.instance == name
    assert {:ok, _result} = Test.call_tool(client, "import")
    :ok = BeamMCP.stop(name)
    assert_raise RuntimeError, ~r/its instance has stopped/, fn -> Test.list_tools(client) end
  end

  test "what was started ends with its process" do
    {client, instance} =
      Task.await(
        Task.async(fn ->
          client = Test.start!(@instance)
          assert {:ok, _tools} = Test.list_tools(client)
          {client, client.instance}
        end)
      )

    assert eventually(fn -> not Process.alive?(client.pid) end)
    assert eventually(fn -> match?({:error, _gone}, BeamMCP.info(instance)) end)
  end

  test "an answer that does not come, and what cannot be sent" do
    client = Test.start!(@instance, timeout_ms: 50)

    assert_raise RuntimeError, "no answer to tools/call within 50 ms", fn ->
      Test.call_tool(client, "wait")
    end

    assert_raise RuntimeError, "no answer to tools/call within 20 ms", fn ->
      Test.call_tool(client, "wait", %{}, timeout_ms: 20)
    end

    assert_raise ArgumentError, ~r/this cannot be sent/, fn ->
      Test.call_tool(client, "import", %{pid: self()})
    end

    assert_raise ArgumentError, ~r/unknown option timeout/, fn ->
      Test.call_tool(client, "import", %{}, timeout: 1)
    end
  end

  test "wrong options, faulty catalogs and unknown instances raise" do
    assert_raise ArgumentError, ~r/option revision: expected `"2026-07-28"`, /, fn ->
      Test.start!(@instance, revision: "2024-11-05")
    end

    assert_raise ArgumentError, ~r/option scopes: expected a list of strings/, fn ->
      Test.start!(@instance, scopes: [:read])
    end

    assert_raise ArgumentError, ~r/option client_info: expected a map/, fn ->
      Test.start!(@instance, client_info: "me")
    end

    assert_raise BeamMCP.Error, ~r/no instance named :nobody runs/, fn ->
      Test.connect!(:nobody)
    end
  end

  test "notifications and requests of any kind" do
    client = Test.start!(@instance)
    :ok = Test.notify(client, "notifications/acme/unknown", %{a: 1})
    assert {:error, %{code: -32_601}} = Test.request(client, "acme/unknown")
    assert {:ok, %{"nextCursor" => _, "tools" => [_, _]}} = Test.request(client, "tools/list")
  end

  test "many clients of many instances side by side" do
    1..20
    |> Task.async_stream(fn _ ->
      client = Test.start!(@instance)
      for _ <- 1..20, do: assert({:ok, _result} = Test.call_tool(client, "import"))
      assert length(Test.progress(client)) == 60
    end)
    |> Enum.each(&assert({:ok, true} = &1))
  end

  defp eventually(holds?, left \\ 200) do
    holds?.() or (left > 0 and Process.sleep(10) == :ok and eventually(holds?, left - 1))
  end
end
