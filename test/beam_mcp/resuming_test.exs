defmodule BeamMCP.ResumingTest do
  use ExUnit.Case, async: true

  import BeamMCP.Test.Until

  alias BeamMCP.{Context, ToolSpec}
  alias BeamMCP.Test.{EventStream, RawHTTP, Wire}

  # Longer than the test; the client says when.
  @patience_ms 5_000

  setup context do
    name = context.test
    test = self()

    tools = [
      {:tool, %ToolSpec{name: "steps"}, &steps(&1, &2, test)},
      {:tool, %ToolSpec{name: "leave"}, &leave/2}
    ]

    options = Wire.options(name, registrations: tools)
    start_supervised!({BeamMCP, options})
    port = Wire.port(name)
    {:ok, name: name, port: port, session: Wire.session(port)}
  end

  test "a client whose connection broke gets the rest", %{port: port, session: session} do
    stream = EventStream.call(port, session, "steps")
    assert %{message: nil, id: primed} = EventStream.next(stream)
    assert %{id: first} = EventStream.next(stream)
    assert_receive {:handler, pid}
    EventStream.close(stream)
    send(pid, :go_on)

    stream = EventStream.get(port, session, first)
    assert EventStream.next(stream).message["params"]["data"] == 2
    assert %{id: last, message: %{"id" => 1, "result" => result}} = EventStream.next(stream)
    assert [%{"text" => "done"}] = result["content"]
    assert EventStream.next(stream) == :end

    stream = EventStream.get(port, session, primed)
    assert for(_ <- 1..3, do: EventStream.next(stream).id) |> List.last() == last
    assert EventStream.next(stream) == :end
  end

  test "a handler gives the connection back", %{name: name, port: port, session: session} do
    stream = EventStream.call(port, session, "leave")
    assert %{message: nil, id: primed, text: text} = EventStream.next(stream)
    assert text =~ "retry: "
    assert EventStream.next(stream) == :end

    stream = EventStream.get(port, session, primed)
    assert %{message: %{"result" => result}} = EventStream.next(stream)
    assert [%{"text" => ":ok"}] = result["content"]
    wait_until(fn -> match?(%{calls: 0, tokens: 0}, BeamMCP.info!(name)) end)
    assert BeamMCP.info!(name).detached_streams <= 1
  end

  test "clients of other revisions are not sent away", %{port: port} do
    response = RawHTTP.modern(port, "tools/call", ~s("name":"leave"), mcp_name: "leave")
    assert response.body =~ "{:error, :not_supported}"
  end

  test "what is not kept is refused", %{port: port, session: session} do
    headers = [accept: "text/event-stream", last_event_id: "p0123-1"] ++ session
    response = RawHTTP.request(port, "GET", "/mcp", headers)
    assert response.status == 400
    assert response.body =~ "Last-Event-ID"
  end

  defp steps(_arguments, context, test) do
    :ok = Context.log(context, :error, 1)
    send(test, {:handler, self()})

    receive do
      :go_on -> :ok = Context.log(context, :error, 2)
    after
      @patience_ms -> :ok
    end

    {:ok, "done"}
  end

  defp leave(_arguments, context), do: {:ok, inspect(Context.close_stream(context))}
end
