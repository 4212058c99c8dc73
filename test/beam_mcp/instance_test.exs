defmodule BeamMCP.InstanceTest do
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  import ExUnit.CaptureLog

  alias BeamMCP.Fixture.{Catalog, Client, Tools}
  alias BeamMCP.{Error, Listener, Test}

  @http [authorize: :none, allowed_origins: [], port: 0]

  defp options(context, more) do
    Keyword.merge(
      [name: context.test, catalog: Catalog, dispatch: &Tools.call/3, http: @http],
      more
    )
  end

  defp start(context, more \\ []) do
    start_supervised!({BeamMCP, options(context, more)})
    context.test
  end

  defp start_failing(context, more) do
    Process.flag(:trap_exit, true)

    {result, _log} = with_log(fn -> BeamMCP.start_link(options(context, more)) end)
    result
  end

  describe "a start" do
    test "serves", context do
      socket = context |> start() |> Client.connect()
      assert {200, body} = Client.call(socket, "echo", ~s({"value":"hé"}))
      assert body =~ ~s("text":"hé")
    end

    test "is refused for a second instance of one name, with the way out", context do
      start(context)
      assert {:error, %Error{kind: :already_started} = error} = start_failing(context, [])
      assert Exception.message(error) =~ "give this one a name of its own"
    end

    test "tells everything that is wrong with the catalog", context do
      defmodule Faulty do
        def capabilities do
          tools = [
            %BeamMCP.ToolSpec{name: "a b", input_schema: %{"type" => "object"}},
            %BeamMCP.ToolSpec{name: "c", input_schema: %{"anyOf" => []}}
          ]

          %{tools: tools, resources: [], prompts: []}
        end
      end

      assert {:error, %Error{kind: :catalog} = error} = start_failing(context, catalog: Faulty)
      assert [%{definition: "a b", place: "name"}, %{definition: "c"}] = error.details
      assert Exception.message(error) =~ ~s(tool "a b", name: may hold only)
      assert inspect(error) == "#BeamMCP.Error<catalog: #{Exception.message(error)}>"
    end

    test "says which address is taken", context do
      start(context)
      [%Listener{address: {:tcp, _ip, port}}] = BeamMCP.info!(context.test).listeners
      taken = [name: {context.test, 2}, http: Keyword.put(@http, :port, port)]
      assert {:error, %Error{kind: :listen} = error} = start_failing(context, taken)
      assert Exception.message(error) =~ "cannot listen on 127.0.0.1:#{port}"
      assert {:error, %Error{kind: :not_running}} = BeamMCP.info({context.test, 2})
    end

    test "opens several listeners, one on a Unix-domain socket", context do
      path = Path.join(System.tmp_dir!(), "beam_mcp-#{System.unique_integer([:positive])}")
      http = [@http, [ip: {:local, path}, authorize: :none, allowed_origins: []]]
      name = start(context, http: http)

      for listener <- BeamMCP.info!(name).listeners do
        assert {200, _body} =
                 Client.request(Client.connect_to(listener.address), "server/discover")
      end

      assert {:unix, path} in Enum.map(BeamMCP.info!(name).listeners, & &1.address)
    end
  end

  describe "info/1" do
    test "counts", context do
      name = start(context)

      assert %{calls: 0, tokens: 0, connections: 0, streams: 0, buffered_bytes: 0, tools: 14} =
               info = BeamMCP.info!(name)

      assert info.dispatchers == max(div(System.schedulers_online(), 4), 1)
      assert info.catalog_digest =~ ~r/\A[0-9a-f]{64}\z/
      assert [%Listener{path: "/mcp"}] = info.listeners
    end
  end

  describe "catalog_changed/1" do
    defmodule Changing do
      def capabilities, do: %{tools: tools(), resources: [], prompts: []}
      def tools, do: :persistent_term.get(__MODULE__)
    end

    test "swaps, and keeps the old one when the new one is faulty", context do
      :persistent_term.put(Changing, [%BeamMCP.ToolSpec{name: "one"}])
      name = start(context, catalog: Changing)
      digest = BeamMCP.info!(name).catalog_digest

      :persistent_term.put(Changing, [
        %BeamMCP.ToolSpec{name: "one"},
        %BeamMCP.ToolSpec{name: "two"}
      ])

      assert BeamMCP.catalog_changed(name) == :ok
      assert %{tools: 2, catalog_digest: changed} = BeamMCP.info!(name)
      assert changed != digest

      :persistent_term.put(Changing, [
        %BeamMCP.ToolSpec{name: "one"},
        %BeamMCP.ToolSpec{name: :one}
      ])

      assert {:error, %Error{kind: :catalog}} = BeamMCP.catalog_changed(name)
      assert %{tools: 2, catalog_digest: ^changed} = BeamMCP.info!(name)
    end

    test "a crash of the catalog process keeps the old one when the new one is faulty", context do
      :persistent_term.put(Changing, [%BeamMCP.ToolSpec{name: "one"}])
      name = start(context, catalog: Changing)
      %{catalog_digest: digest} = BeamMCP.info!(name)
      :persistent_term.put(Changing, [%BeamMCP.ToolSpec{name: "no name"}])

      role = {name, BeamMCP.Catalog.Server}
      [{pid, _value}] = Registry.lookup(BeamMCP.Registry, role)
      Process.exit(pid, :kill)

      wait_until(fn ->
        match?([{new, _}] when new != pid, Registry.lookup(BeamMCP.Registry, role))
      end)

      assert {:error, %Error{kind: :catalog}} = BeamMCP.catalog_changed(name)
      assert %{tools: 1, catalog_digest: ^digest} = BeamMCP.info!(name)
    end
  end

  test "outlives the Registry: it serves, changes, drains and stops", context do
    {:ok, supervisor} = BeamMCP.start_link(options(context, []))
    name = context.test
    kill_registry()
    wait_until(fn -> match?([_listener], BeamMCP.info!(name).listeners) end)

    for process <- [BeamMCP.Catalog.Server, BeamMCP.Instance.Drain] do
      wait_until(fn -> GenServer.whereis(BeamMCP.Instance.via(name, process)) != nil end)
    end

    assert {200, _body} = Client.call(Client.connect(name), "echo", ~s({"value":1}))

    assert BeamMCP.register_tool(name, %BeamMCP.ToolSpec{name: "new"}, fn _ -> {:ok, 1} end) ==
             :ok

    assert BeamMCP.drain(name, 1_000) == {:ok, 0}
    assert BeamMCP.stop(name) == :ok
    refute Process.alive?(supervisor)
  end

  test "keeps its connections while the Registry is away", context do
    name = start(context, [])
    socket = Client.connect(name)

    for away_ms <- [100, 0, 1, 0, 10, 0, 1, 0, 10, 0] do
      :ok = Supervisor.terminate_child(BeamMCP.Supervisor, Registry)
      Process.sleep(away_ms)
      {:ok, _registry} = Supervisor.restart_child(BeamMCP.Supervisor, Registry)
      wait_until(fn -> match?([_listener], BeamMCP.info!(name).listeners) end)
      assert {200, _body} = Client.call(socket, "echo", ~s({"value":1}))
    end
  end

  test "a killed Registry takes no process along that keeps something", context do
    name = start(context, [])
    assert BeamMCP.ReplayStore.ETS.claim(name, "proof", 60) == :new

    keepers =
      for store <- [SessionStore.ETS, TaskStore.ETS, StagedStore.ETS, ReplayStore.ETS, Parking],
          do: BeamMCP.Instance.via(name, Module.concat(BeamMCP, store))

    before = Enum.map(keepers, &GenServer.whereis/1)
    kill_registry()
    wait_until(fn -> Enum.all?(keepers, &GenServer.whereis/1) end)
    assert Enum.map(keepers, &GenServer.whereis/1) == before
    assert BeamMCP.ReplayStore.ETS.claim(name, "proof", 60) == :seen
    assert BeamMCP.info!(name).tasks == 0
  end

  test "after a killed Registry tasks begin, what waits for a cancellation runs, and a name is still taken",
       context do
    test = self()
    start(context)

    wait = fn _arguments, context ->
      BeamMCP.Context.on_cancel(context, fn -> send(test, :cancelled) end)
      send(test, {:running, context.call})
      Process.sleep(:infinity)
    end

    client = client(job: fn _, _ -> {:task, fn _ -> {:ok, "done"} end} end, wait: wait)
    request = Test.send_request(client, "tools/call", %{name: "wait"})
    assert_receive {:running, call}, 2_000

    kill_registry()

    for role <- [BeamMCP.TaskStore.ETS, {BeamMCP.Cancellation, call}] do
      wait_until(fn -> GenServer.whereis(BeamMCP.Instance.via(client.instance, role)) != nil end)
    end

    assert {:ok, task} = Test.call_tool(client, "job")
    assert {:ok, %{"status" => "completed"}} = Test.await_task(client, task)
    Test.cancel(request)
    assert_receive :cancelled, 2_000
    assert {:error, %Error{kind: :already_started}} = start_failing(context, [])
  end

  describe "stopping" do
    test "drains first: a running call is answered, a new connection refused", context do
      {:ok, _pid} = BeamMCP.start_link(options(context, drain_timeout_ms: 5_000))
      name = context.test
      [listener] = BeamMCP.info!(name).listeners
      Process.register(self(), :drain_test)
      socket = Client.connect(name)

      Client.send_call(socket, "slow")

      assert_receive {:slow, pid}, 5_000
      stopping = Task.async(fn -> BeamMCP.stop(name) end)
      wait_until(fn -> refused?(listener) end)
      send(pid, :go_on)
      assert {200, body} = Client.response(socket)
      assert body =~ "done"
      assert Task.await(stopping) == :ok
      assert {:error, %Error{kind: :not_running}} = BeamMCP.info(name)
    end

    test "drain/2 closes the listeners and counts who was cut", context do
      name = start(context)
      Process.register(self(), :drain_test)
      socket = Client.connect(name)

      Client.send_call(socket, "slow")

      assert_receive {:slow, _pid}, 5_000
      assert BeamMCP.drain(name, 50) == {:ok, 1}
      assert %{listeners: []} = BeamMCP.info!(name)
      assert BeamMCP.drain(name, 50) == {:ok, 0}
    end
  end

  # A client that takes tasks, of an instance with these tools.
  defp client(tools) do
    registrations =
      for {name, handler} <- tools,
          do: {:tool, %BeamMCP.ToolSpec{name: name, task_support: :optional}, handler}

    able = %{extensions: %{"io.modelcontextprotocol/tasks" => %{}}}
    Test.start!([registrations: registrations], capabilities: able)
  end

  defp kill_registry do
    registry = Process.whereis(BeamMCP.Registry)
    Process.exit(registry, :kill)
    wait_until(fn -> Process.whereis(BeamMCP.Registry) not in [nil, registry] and answers?() end)
  end

  # Its name is there before its tables are.
  defp answers? do
    is_integer(Registry.count(BeamMCP.Registry))
  rescue
    ArgumentError -> false
  end

  defp refused?(%{address: {:tcp, ip, port}}) do
    case :gen_tcp.connect(ip, port, []) do
      {:ok, socket} -> :gen_tcp.close(socket) && false
      {:error, _refused} -> true
    end
  end
end
