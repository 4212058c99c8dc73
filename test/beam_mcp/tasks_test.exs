defmodule BeamMCP.TasksTest do
  # Calls that go on as tasks (MCP extension io.modelcontextprotocol/tasks), through the public API.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.{Context, InputRequest, PromptSpec, Result, Test, ToolSpec}

  @able %{extensions: %{"io.modelcontextprotocol/tasks" => %{}}, elicitation: %{}}
  @form %{type: "object", properties: %{name: %{type: "string"}}, required: ["name"]}

  defp server(run, options \\ [], spec \\ []) do
    tool = struct!(%ToolSpec{name: "job", task_support: :optional}, spec)
    client = [capabilities: @able] ++ Keyword.get(options, :client, [])
    instance = Keyword.delete(options, :client)
    Test.start!([registrations: [{:tool, tool, fn _, _ -> {:task, run} end}]] ++ instance, client)
  end

  defp begin(client, arguments \\ %{}) do
    assert {:ok, %{"resultType" => "task"} = task} = Test.call_tool(client, "job", arguments)
    task
  end

  defp done(client, task) do
    assert {:ok, task} = Test.await_task(client, task)
    task
  end

  defp text(%{"result" => %{"content" => [%{"text" => text}]}}), do: text
  defp asked(task), do: task["inputRequests"] |> Map.keys() |> Enum.sort()

  defp until(client, task, status) do
    case Test.get_task(client, task) do
      {:ok, %{"status" => ^status} = task} -> task
      {:ok, _other} -> until(client, task, status)
    end
  end

  describe "a task" do
    test "is known at once, goes on, and ends with what the call would have had" do
      test = self()

      client =
        server(fn _context ->
          send(test, {:works, self()})
          receive do: (:go_on -> {:ok, %{sum: 3}})
        end)

      task = begin(client)
      assert task["status"] == "working"
      assert %{"ttlMs" => 3_600_000, "pollIntervalMs" => 1_000} = task
      refute Map.has_key?(task, "requestState") or Map.has_key?(task, "result")

      assert {:ok, %{"status" => "working", "resultType" => "complete"}} =
               Test.get_task(client, task)

      assert %{tasks: 1, tasks_running: 1, calls: 0} = BeamMCP.info!(client.instance)

      assert_receive {:works, pid}
      send(pid, :go_on)
      over = done(client, task)
      assert %{"status" => "completed", "result" => result} = over
      assert %{"structuredContent" => %{"sum" => 3}, "resultType" => "complete"} = result
      assert over["createdAt"] == task["createdAt"]
      assert over["lastUpdatedAt"] >= task["lastUpdatedAt"]
      assert %{tasks: 1, tasks_running: 0, tokens: 0} = settled(client)
    end

    test "is inline for a client that takes none, of any revision" do
      client = server(fn context -> {:ok, inspect(context.task)} end)

      for revision <- ~w(2026-07-28 2025-11-25 2025-06-18) do
        plain = Test.connect!(client.instance, revision: revision)
        assert {:ok, %{"content" => [%{"text" => "nil"}]}} = Test.call_tool(plain, "job")
        old = Test.connect!(client.instance, revision: revision, capabilities: %{tasks: %{}})
        assert {:ok, %{"content" => [%{"text" => "nil"}]}} = Test.call_tool(old, "job")
      end

      assert %{tasks: 0} = BeamMCP.info!(client.instance)
    end

    test "is required where the tool says so" do
      client = server(fn _context -> {:ok, "done"} end, [], task_support: :required)
      assert client |> done(begin(client)) |> text() == "done"
      plain = Test.connect!(client.instance)
      assert {:error, %{code: -32_021, data: data}} = Test.call_tool(plain, "job")
      required = %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}
      assert data == %{"requiredCapabilities" => required}
      old = Test.connect!(client.instance, revision: "2025-11-25")

      assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
               Test.call_tool(old, "job")

      assert text =~ "io.modelcontextprotocol/tasks"
    end

    test "is a fault of a tool that does not declare it, and of what is no tool" do
      client =
        Test.start!(
          registrations: [
            {:tool, %ToolSpec{name: "job"}, fn _, _ -> {:task, fn _ -> {:ok, ""} end} end},
            {:tool, %ToolSpec{name: "wrong", task_support: :optional},
             fn _, _ -> {:task, :fun} end},
            {:prompt, %PromptSpec{name: "p"}, fn _ -> {:task, fn _ -> {:ok, ""} end} end}
          ]
        )

      log =
        capture_log(fn ->
          for tool <- ["job", "wrong"] do
            assert {:ok, %{"isError" => true}} = Test.call_tool(client, tool)
          end

          assert {:error, %{code: -32_603}} = Test.get_prompt(client, "p")
        end)

      assert log =~ "task_support"
      assert log =~ "a function of one argument"
    end

    test "of another caller, or of none, is unknown" do
      client = server(fn _context -> {:ok, ""} end, client: [principal: "ada"])
      task = begin(client)

      for principal <- ["bob", :anonymous] do
        stranger = Test.connect!(client.instance, capabilities: @able, principal: principal)

        for answer <- [
              Test.get_task(stranger, task),
              Test.cancel_task(stranger, task),
              Test.update_task(stranger, task, %{}),
              Test.get_task(stranger, "never")
            ] do
          assert {:error, %{code: -32_602, message: message}} = answer
          assert message == "No such task: it has expired, or never was yours"
        end
      end

      assert {:ok, _task} = Test.get_task(client, task)
    end

    test "says how far it is" do
      client =
        server(fn context ->
          :ok = Context.progress(context, 1, 2, "half of it" <> String.duplicate("é", 1_000))
          :ok = Context.progress(context, 2)
          :ok = Context.log(context, :error, "never sent")
          :ok = Context.notify(context, "notifications/acme", %{})
          {:ok, ""}
        end)

      assert %{"statusMessage" => "half of it" <> rest} = done(client, begin(client))
      assert String.valid?(rest) and byte_size(rest) < 1_024
      assert Test.notifications(client) == []
    end

    test "keeps the order of a tool's limits until its work has ended" do
      test = self()

      client =
        server(
          fn _context ->
            send(test, {:works, self()})
            receive do: (:go_on -> {:ok, ""})
          end,
          [],
          max_concurrency: 1
        )

      task = begin(client)
      assert {:error, %{code: -31_503}} = Test.call_tool(client, "job")
      assert_receive {:works, pid}
      send(pid, :go_on)
      done(client, task)
      begin(client)
    end
  end

  describe "what a task ends with" do
    test "is a result, whatever the host's code does" do
      for {run, text} <- [
            {fn _ -> {:error, "no such city"} end, "no such city"},
            {fn _ -> {:error, Result.safe_error("read-only")} end, "read-only"},
            {fn _ -> {:error, :hidden} end, "The tool failed."},
            {fn _ -> raise "on purpose" end, "The tool failed."},
            {fn _ -> exit(:on_purpose) end, "The tool failed."},
            {fn _ -> Process.exit(self(), :kill) end, "The tool failed."},
            {fn _ -> {:ok, self()} end, "The tool failed."},
            {fn _ -> {:task, fn _ -> {:ok, ""} end} end, "The tool failed."}
          ] do
        client = server(run)

        capture_log(fn ->
          task = done(client, begin(client))
          assert %{"status" => "completed", "result" => %{"isError" => true}} = task
          assert text(task) == text
        end)
      end
    end

    test "is held to the output schema and the limit of results" do
      schema = %{type: "object", properties: %{n: %{type: "integer"}}, required: ["n"]}
      wrong = server(fn _ -> {:ok, %{n: "seven"}} end, [], output_schema: schema)
      large = server(fn _ -> {:ok, String.duplicate("x", 4_000)} end, max_result_bytes: 4_096)

      log =
        capture_log(fn ->
          for client <- [wrong, large] do
            assert client |> done(begin(client)) |> text() == "The tool failed."
          end
        end)

      assert log =~ "output_schema"
      assert log =~ "max_result_bytes"
    end

    test "goes to the host's reporter" do
      test = self()
      reporter = fn report -> send(test, {:report, report}) end
      client = server(fn _ -> raise "on purpose" end, exception_reporter: reporter)
      capture_log(fn -> done(client, begin(client)) end)
      assert_receive {:report, %BeamMCP.Report{kind: :error, offer: {:tool, "job"}}}
    end
  end

  describe "asking in a task" do
    test "stands in it until the client has answered" do
      client = server(fn context -> {:ok, inspect(Context.elicit(context, "Who?", @form))} end)
      task = begin(client)
      asking = until(client, task, "input_required")
      assert %{"input-1" => %{"method" => "elicitation/create"}} = asking["inputRequests"]

      for nonsense <- [
            %{},
            %{"input-2" => %{}},
            %{"input-1" => 7},
            %{"input-1" => %{action: "accept"}}
          ] do
        assert {:ok, %{"resultType" => "complete"}} = Test.update_task(client, task, nonsense)
        assert {:ok, %{"status" => "input_required"}} = Test.get_task(client, task)
      end

      answer = %{action: "accept", content: %{name: "Ada"}}
      {:ok, _done} = Test.update_task(client, task, %{"input-1" => answer})
      over = done(client, task)
      assert text(over) == ~S({:accept, %{"name" => "Ada"}})
      refute Map.has_key?(over, "inputRequests")
      {:ok, _done} = Test.update_task(client, task, %{"input-1" => answer})
    end

    test "several things takes several answers, in any order and number" do
      client =
        server(fn context ->
          requests = %{a: InputRequest.form("A?", @form), b: InputRequest.form("B?", @form)}
          first = Context.ask(context, requests)
          second = Context.elicit(context, "C?", @form, key: :c)
          {:ok, inspect({first.a, first.b, second})}
        end)

      task = begin(client)
      assert client |> until(task, "input_required") |> asked() == ["a", "b"]
      {:ok, _done} = Test.update_task(client, task, %{b: %{action: "decline"}})
      assert client |> until(task, "input_required") |> asked() == ["a"]
      Test.answer_with(client, fn "elicitation/create", _params -> :cancel end)
      assert client |> done(task) |> text() == "{:cancel, :decline, :cancel}"
    end

    test "does not ask twice under one key" do
      client =
        server(fn context ->
          :decline = Context.elicit(context, "One?", @form, key: :k)
          Context.elicit(context, "Two?", @form, key: :k)
        end)

      Test.answer_with(client, fn "elicitation/create", _params -> :decline end)

      log =
        capture_log(fn -> assert client |> done(begin(client)) |> text() == "The tool failed." end)

      assert log =~ "was asked before"
    end

    test "fails the task of a client that cannot be asked, unless that is optional" do
      client = server(fn context -> Context.roots(context) end)
      over = done(client, begin(client))
      assert %{"status" => "failed", "error" => error, "statusMessage" => message} = over
      assert %{"code" => -32_021, "data" => data, "message" => ^message} = error
      assert data == %{"requiredCapabilities" => %{"roots" => %{}}}
      refute Map.has_key?(over, "result")

      client =
        server(fn context ->
          able = for kind <- [:form, :roots], do: Context.supports?(context, kind)
          {:ok, inspect({able, Context.roots(context, optional: true)})}
        end)

      assert client |> done(begin(client)) |> text() ==
               "{[true, false], {:error, :not_supported}}"
    end

    test "is for the process of the work alone, and not for later" do
      client =
        server(fn context ->
          ask = fn ask ->
            Task.await(Task.async(fn -> assert_raise(ArgumentError, fn -> ask.(context) end) end))
          end

          foreign = ask.(&Context.elicit(&1, "Who?", @form))
          later = ask.(&Context.retry_later/1)
          {:ok, foreign.message <> later.message}
        end)

      text = client |> done(begin(client)) |> text()
      assert text =~ "only the process that runs the handler"
      assert text =~ "nothing to send again"
    end

    test "before it costs a round, and then the task begins" do
      handler = fn _arguments, context ->
        {:accept, %{"name" => name}} = Context.elicit(context, "Who?", @form, key: :who)
        {:task, fn context -> {:ok, name <> inspect(Context.elicit(context, "?", @form))} end}
      end

      spec = %ToolSpec{name: "job", task_support: :required}
      client = Test.start!([registrations: [{:tool, spec, handler}]], capabilities: @able)
      assert {:ok, %{"resultType" => "input_required"} = round} = Test.call_tool(client, "job")
      refute Map.has_key?(round, "taskId")
      Test.answer_with(client, fn _method, _params -> {:accept, %{name: "Ada"}} end)
      assert client |> done(begin(client)) |> text() == ~S(Ada{:accept, %{"name" => "Ada"}})
    end
  end

  describe "a cancelled task" do
    test "is over at once, and its work is told, and killed" do
      test = self()

      client =
        server(
          fn context ->
            Context.on_cancel(context, fn -> send(test, {:told, Context.cancelled?(context)}) end)
            send(test, {:works, self(), Context.cancelled?(context)})
            Process.sleep(:infinity)
          end,
          cancel_grace_ms: 50
        )

      task = begin(client)
      assert_receive {:works, pid, false}
      ref = Process.monitor(pid)
      assert {:ok, done} = Test.cancel_task(client, task)
      assert Map.keys(done) == ["_meta", "resultType"]
      assert {:ok, %{"status" => "cancelled"}} = Test.get_task(client, task)
      assert_receive {:told, true}
      assert_receive {:DOWN, ^ref, :process, ^pid, :killed}
      assert {:ok, _done} = Test.cancel_task(client, task)
      assert %{tasks: 1, tasks_running: 0} = settled(client)
    end

    test "lets what waits for an answer end" do
      test = self()

      client =
        server(fn context ->
          try do
            Context.elicit(context, "Who?", @form)
          after
            send(test, :rolled_back)
          end
        end)

      task = begin(client)
      until(client, task, "input_required")
      {:ok, _done} = Test.cancel_task(client, task)
      assert_receive :rolled_back
      assert {:ok, %{"status" => "cancelled"}} = Test.get_task(client, task)
      assert %{tasks_running: 0} = settled(client)
    end

    test "stays as it is, and so does one that was done before" do
      client = server(fn _context -> {:ok, "done"} end)
      task = begin(client)
      over = done(client, task)
      {:ok, _done} = Test.cancel_task(client, task)
      assert Test.get_task(client, task) == {:ok, over}
    end

    test "races with its end and has one outcome" do
      client =
        server(fn _context ->
          Process.sleep(:rand.uniform(3) - 1)
          {:ok, "done"}
        end)

      for _ <- 1..200 do
        task = begin(client)
        Process.sleep(:rand.uniform(3) - 1)
        {:ok, _done} = Test.cancel_task(client, task)
        assert {:ok, %{"status" => status} = over} = Test.get_task(client, task)
        assert status in ["completed", "cancelled"]
        assert Test.get_task(client, task) == {:ok, over}
      end

      assert %{tasks: 200, tasks_running: 0, tokens: 0} = settled(client)
    end
  end

  describe "the time of a task" do
    test "ends its work and then it is forgotten" do
      test = self()

      client =
        server(
          fn context ->
            Context.on_cancel(context, fn -> send(test, :told) end)
            Process.sleep(:infinity)
          end,
          task_ttl_ms: 60,
          cancel_grace_ms: 50,
          task_store: {BeamMCP.TaskStore.ETS, sweep_interval_ms: 20}
        )

      task = begin(client)
      assert {:ok, _task} = Test.get_task(client, task)
      assert_receive :told
      assert {:error, %{code: -32_602}} = Test.get_task(client, task)
      assert %{tasks: 0, tasks_running: 0} = settled(client)
    end
  end

  test "a task whose keeper is gone has failed" do
    client = server(fn _context -> Process.sleep(:infinity) end)
    task = begin(client)
    [{_id, keeper, _type, _modules}] = keepers(client)
    Process.exit(keeper, :kill)
    over = done(client, task)
    assert %{"status" => "failed", "error" => %{"code" => -32_603}} = over
    assert Test.get_task(client, task) == {:ok, over}
  end

  test "a store that is gone fails the question, and the call that would begin a task" do
    defmodule Broken do
      @moduledoc false
      def child_spec(_argument),
        do: %{id: __MODULE__, start: {Agent, :start_link, [fn -> [] end]}}

      def create(_namespace, _task), do: raise("no room on the disk")
      def fetch(_namespace, _id), do: raise("no disk")
    end

    client = server(fn _context -> {:ok, ""} end, task_store: {Broken, []})

    log =
      capture_log(fn ->
        assert {:ok, %{"isError" => true}} = Test.call_tool(client, "job")
        assert {:error, %{code: -32_603}} = Test.get_task(client, "any")
      end)

    assert log =~ "no room on the disk"
    assert log =~ "no disk"
  end

  describe "while the store is out of reach" do
    # A store that is, for as long as a test says.
    defmodule Away do
      @moduledoc false
      @behaviour BeamMCP.TaskStore

      alias BeamMCP.TaskStore.ETS

      @impl true
      defdelegate child_spec(argument), to: ETS

      @impl true
      defdelegate fetch(namespace, id), to: ETS

      @impl true
      defdelegate delete(namespace, id), to: ETS

      @impl true
      defdelegate count(namespace), to: ETS

      @impl true
      def create(namespace, task), do: here(namespace, fn -> ETS.create(namespace, task) end)

      @impl true
      def update(namespace, id, change),
        do: here(namespace, fn -> ETS.update(namespace, id, change) end)

      def put(namespace, away?), do: :persistent_term.put({__MODULE__, namespace}, away?)

      defp here(namespace, fun) do
        if :persistent_term.get({__MODULE__, namespace}, false),
          do: {:error, :unavailable},
          else: fun.()
      end
    end

    defp away(client, away?), do: Away.put(client.instance, away?)

    defp waiting(options \\ []) do
      test = self()

      run = fn context ->
        send(test, {:works, self()})

        receive do
          :go_on -> {:ok, "done"}
          :ask -> {:ok, inspect(Context.elicit(context, "Who?", @form, key: :who))}
        end
      end

      client = server(run, [task_store: {Away, []}] ++ options)
      task = begin(client)
      assert_receive {:works, worker}
      away(client, true)
      {client, task, worker}
    end

    test "what a job comes to waits until it is back" do
      {client, task, worker} = waiting()
      monitor = Process.monitor(worker)
      send(worker, :go_on)
      assert_receive {:DOWN, ^monitor, :process, ^worker, :normal}
      assert {:ok, %{"status" => "working"}} = Test.get_task(client, task)
      assert %{tasks_running: 1} = BeamMCP.info!(client.instance)
      away(client, false)
      assert client |> done(task) |> text() == "done"
      assert %{tasks_running: 0} = settled(client)
    end

    test "so does what it asks, and what it then makes of the answer" do
      {client, task, worker} = waiting()
      send(worker, :ask)
      Process.sleep(50)
      away(client, false)
      assert asked(until(client, task, "input_required")) == ["who"]
      away(client, true)
      {:ok, _done} = Test.update_task(client, task, %{who: %{action: "decline"}})
      assert {:ok, %{"status" => "input_required"}} = Test.get_task(client, task)
      away(client, false)
      assert client |> until(task, "completed") |> text() == ":decline"
      assert %{tasks_running: 0} = settled(client)
    end

    test "so does its end by the client" do
      {client, task, _worker} = waiting(cancel_grace_ms: 10)
      {:ok, _done} = Test.cancel_task(client, task)
      assert {:ok, %{"status" => "working"}} = Test.get_task(client, task)
      away(client, false)
      assert {:ok, %{"status" => "cancelled"}} = Test.await_task(client, task)
      assert %{tasks_running: 0} = settled(client)
    end

    test "nothing waits longer than the task would be kept" do
      {client, _task, worker} = waiting(task_ttl_ms: 200)
      send(worker, :go_on)
      assert %{tasks_running: 0} = settled(client)
    end

    test "no task begins" do
      {client, _task, _worker} = waiting()
      assert {:error, %{code: -32_603, message: message}} = Test.call_tool(client, "job")
      assert message =~ "cannot reach its tasks"
    end
  end

  describe "bounds" do
    test "as many tasks as may be are kept" do
      store = {BeamMCP.TaskStore.ETS, max_tasks: 2}
      client = server(fn _context -> {:ok, ""} end, task_store: store)
      for _ <- 1..2, do: done(client, begin(client))
      assert {:error, %{code: -31_503, message: message}} = Test.call_tool(client, "job")
      assert message =~ "tasks"
      assert %{tasks: 2, calls: 0} = settled(client)
    end

    test "a result that finds no room is an error" do
      store = {BeamMCP.TaskStore.ETS, max_task_bytes: 20_000}
      client = server(fn _context -> {:ok, String.duplicate("x", 8_000)} end, task_store: store)
      tasks = for _ <- 1..3, do: done(client, begin(client))
      assert Enum.map(tasks, & &1["status"]) == ["completed", "completed", "failed"]
      assert %{"error" => %{"code" => -31_503}} = List.last(tasks)
    end

    test "an answer that finds no room ends the task" do
      store = {BeamMCP.TaskStore.ETS, max_task_bytes: 5_000}
      run = fn context -> {:ok, inspect(Context.elicit(context, "Who?", @form))} end
      client = server(run, task_store: store)
      task = begin(client)
      until(client, task, "input_required")
      answer = %{action: "accept", content: %{name: String.duplicate("x", 5_000)}}
      {:ok, _done} = Test.update_task(client, task, %{"input-1" => answer})
      assert %{"status" => "failed", "error" => %{"code" => -31_503}} = done(client, task)
      assert %{tasks_running: 0} = settled(client)
    end

    test "answers take room while others are missing" do
      store = {BeamMCP.TaskStore.ETS, max_task_bytes: 20_000}
      requests = Map.new([:a, :b], &{&1, InputRequest.form("Who?", @form)})
      run = fn context -> {:ok, inspect(Context.ask(context, requests))} end
      client = server(run, task_store: store)
      tasks = for _ <- 1..4, do: begin(client)
      long = %{action: "accept", content: %{name: String.duplicate("x", 8_000)}}

      for task <- tasks do
        until(client, task, "input_required")
        {:ok, _done} = Test.update_task(client, task, %{a: long})
      end

      states = for task <- tasks, {:ok, state} = Test.get_task(client, task), do: state["status"]
      assert states == ~w(input_required input_required failed failed)
    end

    @tag :exhaustive
    test "20,000 abandoned tasks leave as many as may be, twice" do
      store = {BeamMCP.TaskStore.ETS, max_tasks: 1_000, sweep_interval_ms: 3_600_000}

      client =
        server(fn _context -> {:ok, "done"} end,
          task_store: store,
          task_ttl_ms: 1_500,
          client: [timeout_ms: 60_000]
        )

      figures =
        for _round <- 1..2 do
          refused =
            Enum.count(1..20_000, fn _ -> match?({:error, _}, Test.call_tool(client, "job")) end)

          assert %{tasks: kept, tasks_running: 0, tokens: 0} = settled(client)
          assert kept <= 1_000
          assert refused > 0
          Process.sleep(1_600)
          sweep(client)
          assert %{tasks: 0} = BeamMCP.info!(client.instance)
          for pid <- Process.list(), do: :erlang.garbage_collect(pid)
          {refused, length(Process.list()), div(:erlang.memory(:total), 1_048_576)}
        end

      [{_, before, _}, {_, later, _}] = figures
      IO.puts("abandoned tasks {refused, processes, MiB}: #{inspect(figures)}")
      assert later - before < 50
    end
  end

  test "the extension is offered where a tool has tasks, and to modern clients" do
    discover = fn client ->
      {:ok, %{"capabilities" => capabilities}} = Test.discover(client)
      capabilities["extensions"]
    end

    client = server(fn _context -> {:ok, ""} end)
    assert discover.(client) == %{"io.modelcontextprotocol/tasks" => %{}}
    old = Test.connect!(client.instance, revision: "2025-11-25")
    assert {:ok, %{"capabilities" => capabilities}} = Test.initialize(old)
    refute Map.has_key?(capabilities, "extensions") or Map.has_key?(capabilities, "tasks")

    for method <- ~w(tasks/list tasks/result) do
      assert {:error, %{code: -32_601}} = Test.request(client, method)
    end
  end

  test "a task outlives its tool, and so does the extension" do
    client = server(fn _context -> {:ok, "done"} end)
    task = begin(client)
    :ok = BeamMCP.unregister(client.instance, :tool, "job")
    assert client |> done(task) |> text() == "done"
    {:ok, %{"capabilities" => %{"extensions" => extensions}}} = Test.discover(client)
    assert extensions == %{"io.modelcontextprotocol/tasks" => %{}}

    none = Test.start!([], capabilities: @able)
    assert {:error, %{code: -32_601}} = Test.get_task(none, "any")
  end

  test "changes are told to those who listen to the task" do
    client = server(fn context -> {:ok, inspect(Context.elicit(context, "Who?", @form))} end)
    task = begin(client)
    filter = %{taskIds: [task["taskId"], "another's"]}
    listen = Test.send_request(client, "subscriptions/listen", %{notifications: filter})
    assert_receive {:mcp, ^client, "notifications/subscriptions/acknowledged", acknowledged}
    assert acknowledged["notifications"] == %{"taskIds" => [task["taskId"]]}

    assert_receive {:mcp, ^client, "notifications/tasks", %{"status" => "input_required"} = told}
    assert told["inputRequests"] |> Map.keys() == ["input-1"]
    assert told["_meta"]["io.modelcontextprotocol/subscriptionId"] == listen.id
    assert told["taskId"] == task["taskId"]

    {:ok, _done} = Test.update_task(client, task, %{"input-1" => %{action: "decline"}})
    assert_receive {:mcp, ^client, "notifications/tasks", %{"status" => "completed"} = told}
    assert text(told) == ":decline"
    Test.cancel(listen)
  end

  defp keepers(client) do
    %{supervisors: supervisors} = BeamMCP.Instance.fetch!(client.instance)
    [{_module, keepers}] = :ets.lookup(supervisors, BeamMCP.Tasks.Keepers)
    DynamicSupervisor.which_children(keepers)
  end

  defp sweep(client) do
    [{store, _opened}] =
      Registry.lookup(BeamMCP.Registry, {client.instance, BeamMCP.TaskStore.ETS})

    send(store, :sweep)
    :sys.get_state(store)
  end

  # Processes end a moment after their task.
  defp settled(client, tries \\ 200) do
    case BeamMCP.info!(client.instance) do
      %{tasks_running: running, tokens: tokens} when running + tokens > 0 and tries > 0 ->
        Process.sleep(10)
        settled(client, tries - 1)

      info ->
        info
    end
  end
end
