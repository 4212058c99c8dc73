defmodule BeamMCP.TasksClusterTest do
  # Two nodes that share a task store: every node answers for every task, and results outlive the node that computed
  # them.
  use ExUnit.Case, async: false

  alias BeamMCP.{TaskStore, Test}
  alias BeamMCP.Test.{SharedTaskStore, TaskHost, Wire}

  @moduletag :integration
  @name __MODULE__
  @able %{extensions: %{"io.modelcontextprotocol/tasks" => %{}}, elicitation: %{}}

  setup do
    System.cmd("epmd", ["-daemon"])
    _started_or_running = Node.start(:"beam_mcp_test@127.0.0.1", :longnames)
    start_supervised!(TaskStore.ETS.child_spec({:tasks, []}))
    store = {SharedTaskStore, home: node()}
    options = TaskHost.options(namespace: :tasks, task_store: store)

    {peer, node} = start_peer()
    {:ok, _port} = :peer.call(peer, Wire, :start_apart, [:there, options])
    start_supervised!({BeamMCP, Wire.options(@name, options)})
    wait_until(fn -> length(:pg.get_members(BeamMCP.Groups, {BeamMCP.Changes, :tasks})) == 2 end)
    {:ok, peer: peer, node: node, client: Test.connect!(@name, capabilities: @able)}
  end

  test "a task of there is read here", %{client: client, peer: peer, node: node} do
    task = begin(peer, "where")
    assert {:ok, %{"status" => "completed", "result" => result}} = Test.await_task(client, task)
    assert %{"content" => [%{"text" => text}]} = result
    assert text == Atom.to_string(node)
  end

  test "a task of there is answered here, and its changes are told here", %{
    client: client,
    peer: peer
  } do
    task = begin(peer, "ask")

    wait_until(fn ->
      match?({:ok, %{"status" => "input_required"}}, Test.get_task(client, task))
    end)

    filter = %{notifications: %{taskIds: [task]}}
    _listen = Test.send_request(client, "subscriptions/listen", filter)
    assert_receive {:mcp, ^client, "notifications/tasks", %{"status" => "input_required"}}, 1_000
    {:ok, _done} = Test.update_task(client, task, %{go: %{action: "cancel"}})
    assert_receive {:mcp, ^client, "notifications/tasks", %{"status" => "completed"}}, 3_000
  end

  test "a task of there is cancelled here", %{client: client, peer: peer} do
    task = begin(peer, "hang")
    assert {:ok, %{"status" => "working"}} = Test.get_task(client, task)
    {:ok, _done} = Test.cancel_task(client, task)
    assert {:ok, %{"status" => "cancelled"}} = Test.get_task(client, task)
    wait_until(fn -> :peer.call(peer, BeamMCP, :info!, [:there]).tasks_running == 0 end)
  end

  test "when there is gone, its results stay and its other tasks have failed", %{
    client: client,
    peer: peer,
    node: node
  } do
    done = begin(peer, "where")
    {:ok, over} = Test.await_task(client, done)
    lost = begin(peer, "hang")
    Node.monitor(node, true)
    :peer.stop(peer)
    assert_receive {:nodedown, ^node}, 5_000

    assert Test.get_task(client, done) == {:ok, over}
    assert {:ok, %{"status" => "failed", "error" => error}} = Test.get_task(client, lost)
    assert error["code"] == -32_603
    assert {:ok, _done} = Test.cancel_task(client, lost)
  end

  test "a task of a node that stops in good order has failed at once", %{
    client: client,
    peer: peer
  } do
    lost = begin(peer, "hang")
    :ok = :peer.call(peer, BeamMCP, :stop, [:there])
    assert {:ok, %{"status" => "failed"}} = Test.get_task(client, lost)
  end

  # The client of there ends with the process that connected it; the task goes on.
  defp begin(peer, tool) do
    {:ok, task} = :peer.call(peer, TaskHost, :begin, [:there, tool, @able])
    task["taskId"]
  end

  defp start_peer do
    options = %{
      name: :peer.random_name(),
      host: ~c"127.0.0.1",
      longnames: true,
      args: Enum.flat_map(:code.get_path(), &[~c"-pa", &1]),
      connection: :standard_io
    }

    {:ok, peer, node} = :peer.start(options)
    on_exit(fn -> stop(peer) end)
    true = Node.connect(node)
    {:ok, _} = :peer.call(peer, Application, :ensure_all_started, [:beam_mcp])
    {peer, node}
  end

  defp stop(peer) do
    :peer.stop(peer)
  catch
    :exit, _stopped -> :ok
  end

  defp wait_until(condition, tries \\ 200) do
    unless condition.() do
      assert tries > 0
      Process.sleep(20)
      wait_until(condition, tries - 1)
    end
  end
end
