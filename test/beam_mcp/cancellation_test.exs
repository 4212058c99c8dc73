defmodule BeamMCP.CancellationTest do
  # What `on_cancel` promises, whoever ends first.
  use ExUnit.Case, async: true

  alias BeamMCP.{Context, Instance, Test, ToolSpec}

  # Ends by itself as soon as it sees that it is cancelled.
  def poll(_arguments, context) do
    [test | _callers] = Process.get(:"$callers")
    Context.on_cancel(context, fn -> send(test, :cancelled) end)
    send(test, {:polling, self()})
    poll(context)
  end

  def finish(_arguments, context) do
    [test | _callers] = Process.get(:"$callers")
    Context.on_cancel(context, fn -> send(test, :cancelled) end)
    {:ok, "finished"}
  end

  def fail_first(_arguments, context) do
    [test | _callers] = Process.get(:"$callers")
    Context.on_cancel(context, fn -> raise "on purpose" end)
    Context.on_cancel(context, fn -> send(test, :cancelled) end)
    send(test, {:polling, self()})
    Process.sleep(:infinity)
  end

  setup do
    tools =
      for name <- [:poll, :finish, :fail_first],
          do: {:tool, %ToolSpec{name: name}, {__MODULE__, name}}

    {:ok, client: Test.start!(registrations: tools, dispatchers: 1, cancel_grace_ms: 2_000)}
  end

  test "a function runs although its call has ended when the dispatcher comes to it", %{
    client: client
  } do
    request = Test.send_request(client, "tools/call", %{name: "poll"})
    assert_receive {:polling, pid}, 2_000
    ref = Process.monitor(pid)
    dispatcher = dispatcher(client.instance)
    :sys.suspend(dispatcher)
    Test.cancel(request)
    assert_receive {:DOWN, ^ref, :process, ^pid, :normal}, 2_000
    Process.sleep(50)
    :sys.resume(dispatcher)
    assert_receive :cancelled, 2_000
  end

  test "a function that fails does not stop the next", %{client: client} do
    request = Test.send_request(client, "tools/call", %{name: "fail_first"})
    assert_receive {:polling, _pid}, 2_000

    assert ExUnit.CaptureLog.capture_log(fn ->
             Test.cancel(request)
             assert_receive :cancelled, 2_000
           end) =~ "a function given to on_cancel failed: RuntimeError: on purpose"
  end

  test "no function runs when the call ends by itself, and nothing of it stays", %{client: client} do
    assert {:ok, _result} = Test.call_tool(client, "finish")
    refute_receive :cancelled, 700

    assert Registry.select(BeamMCP.Registry, [{{{client.instance, :"$1"}, :_, :_}, [], [:"$1"]}])
           |> Enum.filter(&match?({BeamMCP.Cancellation, _call}, &1)) == []
  end

  defp poll(context) do
    Process.sleep(1)
    if Context.cancelled?(context), do: {:ok, "seen"}, else: poll(context)
  end

  defp dispatcher(name) do
    {:ok, instance} = Instance.fetch(name)
    [pid] = instance.supervisor |> child(:services) |> child(:dispatchers) |> children()
    pid
  end

  defp child(supervisor, id) do
    {^id, pid, _type, _modules} = supervisor |> Supervisor.which_children() |> List.keyfind(id, 0)
    pid
  end

  defp children(supervisor),
    do: for({_id, pid, _type, _modules} <- Supervisor.which_children(supervisor), do: pid)
end
