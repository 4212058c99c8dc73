for file <- ~w(json cluster task_client),
    do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.TasksClusterTest do
  # Nodes that keep their tasks in one Mnesia: each of them answers for every task, and results outlive the node that
  # computed them.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  alias BeamMCP.TaskStore.Mnesia
  alias BeamMCP.Test.{Cluster, EventStream, TaskClient, TaskHost}

  @moduletag :integration
  @moduletag timeout: 120_000

  setup context do
    store = {Mnesia, Keyword.merge([majority: false], Map.get(context, :store, []))}
    options = TaskHost.options(namespace: :tasks, task_store: store)
    disc = if context[:disc], do: directory(context)
    cluster = Cluster.start(Map.get(context, :nodes, 2), options, disc)
    on_exit(fn -> Cluster.stop_nodes(cluster) end)
    {:ok, cluster: cluster, options: options}
  end

  test "a task of one node is read on another as soon as it is known", %{cluster: [a, b]} do
    for _ <- 1..20 do
      id = TaskClient.begin(a, "where")
      assert %{"taskId" => ^id} = TaskClient.get(b, id)
      assert b |> TaskClient.await(id, "completed") |> TaskClient.text() == "#{a.node}"
    end
  end

  test "its questions are answered, and its changes told, on another", %{cluster: [a, b]} do
    id = TaskClient.begin(a, "ask")
    stream = TaskClient.listen(b, id)
    assert told(stream, "input_required")["inputRequests"] |> Map.keys() == ["go"]
    answer = ~S(,"inputResponses":{"go":{"action":"accept","content":{"ok":true}}})
    assert TaskClient.ask(b, "tasks/update", id, answer).status == 200
    assert TaskClient.text(told(stream, "completed")) == ~S({:accept, %{"ok" => true}})
    EventStream.close(stream)
  end

  test "it is cancelled on another", %{cluster: [a, b]} do
    id = TaskClient.begin(a, "hang")
    assert %{"status" => "working"} = TaskClient.get(b, id)
    assert TaskClient.ask(b, "tasks/cancel", id).status == 200
    for one <- [a, b], do: assert(%{"status" => "cancelled"} = TaskClient.get(one, id))
    wait_until(fn -> Cluster.info(a).tasks_running == 0 end)
  end

  test "a node that is killed leaves its results; its other tasks have failed", %{cluster: [a, b]} do
    done = TaskClient.begin(a, "where")
    over = TaskClient.await(b, done, "completed")
    [working, asking] = for tool <- ["hang", "ask"], do: TaskClient.begin(a, tool)
    TaskClient.await(b, asking, "input_required")
    Cluster.kill(a)
    assert TaskClient.get(b, done) == over

    for id <- [working, asking] do
      assert %{"status" => "failed", "error" => error} = TaskClient.get(b, id)
      assert %{"code" => -32_603, "message" => "The task was lost" <> _rest} = error
      assert TaskClient.ask(b, "tasks/cancel", id).status == 200
    end
  end

  test "a node that stops in good order lets its jobs finish for a while", %{cluster: [a, b]} do
    soon = TaskClient.begin(a, "soon")
    stopping = Task.async(fn -> Cluster.stop(a) end)
    assert b |> TaskClient.await(soon, "completed") |> TaskClient.text() == "#{a.node}"
    assert Task.await(stopping, 10_000) == :ok
    assert %{"status" => "completed"} = TaskClient.get(b, soon)
  end

  test "what does not finish by then has failed", %{cluster: [a, b], options: options} do
    :ok = Cluster.stop(a)
    a = Cluster.serve(a, [drain_timeout_ms: 200] ++ options)
    lost = TaskClient.begin(a, "hang")
    stream = TaskClient.listen(b, lost)
    :ok = Cluster.stop(a)
    assert %{"error" => %{"code" => -32_603}} = told(stream, "failed")
    assert %{"status" => "failed"} = TaskClient.get(b, lost)
    EventStream.close(stream)
  end

  @tag nodes: 3
  @tag store: [majority: true]
  test "of three nodes one may be lost, and one alone answers 503", %{cluster: [a, b, c]} do
    id = TaskClient.begin(a, "where")
    over = TaskClient.await(b, id, "completed")
    Cluster.kill(a)
    for one <- [b, c], do: assert(TaskClient.get(one, id) == over)
    more = TaskClient.begin(b, "where")
    assert c |> TaskClient.await(more, "completed") |> TaskClient.text() == "#{b.node}"

    Cluster.kill(b)
    wait_until(fn -> TaskClient.ask(c, "tasks/get", id).status == 503 end)

    for method <- ["tasks/get", "tasks/cancel"],
        do: assert(TaskClient.ask(c, method, id).status == 503)

    assert Cluster.info(c).tasks == nil
  end

  @tag store: [majority: true]
  test "what a job comes to while its node is alone is kept until it is not", %{
    cluster: [a, b],
    options: options
  } do
    id = TaskClient.begin(a, "soon")
    Cluster.kill(b)
    wait_until(fn -> TaskClient.ask(a, "tasks/get", id).status == 503 end)
    Process.sleep(1_200)
    assert %{tasks_running: 1} = Cluster.info(a)
    b = Cluster.rejoin(b, [a], options)
    on_exit(fn -> Cluster.stop_nodes([b]) end)
    assert b |> TaskClient.await(id, "completed") |> TaskClient.text() == "#{a.node}"
    wait_until(fn -> Cluster.info(a).tasks_running == 0 end)
  end

  @tag disc: true
  @tag store: [disc_copies: true]
  test "with copies on disc results outlive all nodes, and work does not", %{
    cluster: cluster,
    options: options
  } do
    [a, b] = cluster
    done = TaskClient.begin(a, "where")
    over = TaskClient.await(b, done, "completed")
    lost = TaskClient.begin(a, "hang")
    for one <- cluster, do: :ok = Cluster.call(one, :mnesia, :sync_log, [])
    Enum.each(cluster, &Cluster.kill/1)
    [a, b] = again = Cluster.reboot(cluster, options)
    on_exit(fn -> Cluster.stop_nodes(again) end)
    for one <- [a, b], do: assert(TaskClient.get(one, done) == over)
    # On the node where its keeper was there is another of that name now.
    assert %{"status" => "failed"} = TaskClient.get(a, lost)
    assert %{"status" => "failed"} = TaskClient.get(b, lost)
  end

  # A change that came while the client read the one before may have been told with it.
  defp told(stream, status) do
    case EventStream.next(stream).message["params"] do
      %{"status" => ^status} = task -> task
      %{"status" => _before} -> told(stream, status)
    end
  end

  defp directory(context) do
    directory =
      Path.join(System.tmp_dir!(), "#{inspect(__MODULE__)}-#{System.pid()}-#{context.line}")

    File.mkdir_p!(directory)
    on_exit(fn -> File.rm_rf!(directory) end)
    directory
  end
end
