defmodule BeamMCP.ClusterTest do
  # Two nodes, one namespace: what changes on one is told to the clients of the other.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  alias BeamMCP.Test.{Distribution, EventStream, RawHTTP, Wire}
  alias BeamMCP.ToolSpec

  @moduletag :integration
  @name __MODULE__

  setup_all do
    Distribution.start()

    options = %{
      name: :peer.random_name(),
      host: ~c"127.0.0.1",
      longnames: true,
      args: Enum.flat_map(:code.get_path(), &[~c"-pa", &1]),
      connection: :standard_io
    }

    {:ok, peer, node} = :peer.start_link(options)
    true = Node.connect(node)
    {:ok, _} = :peer.call(peer, Application, :ensure_all_started, [:beam_mcp])
    here = start_supervised!({BeamMCP, Wire.options(@name, namespace: :cluster)})
    {:ok, port} = :peer.call(peer, Wire, :start_apart, [:there, [namespace: :cluster]])

    wait_until(fn -> length(:pg.get_members(BeamMCP.Groups, {BeamMCP.Changes, :cluster})) == 2 end)

    {:ok, peer: peer, here: here, port: Wire.port(@name), there: port}
  end

  test "a list that changes here is told there", %{there: there} do
    {stream, _} = EventStream.listen(there, %{toolsListChanged: true})
    :ok = BeamMCP.register_tool(@name, %ToolSpec{name: "more"}, fn _ -> {:ok, ""} end)
    assert EventStream.method(stream) == "notifications/tools/list_changed"
    EventStream.close(stream)
  end

  test "and the other way round", %{peer: peer, port: port} do
    {stream, _} = EventStream.listen(port, %{toolsListChanged: true})
    :ok = :peer.call(peer, BeamMCP, :notify_changed, [:there, :tools])
    assert EventStream.method(stream) == "notifications/tools/list_changed"
    EventStream.close(stream)
  end

  test "a change that is told a thousand times is told there and ends", %{there: there} do
    {stream, _} = EventStream.listen(there, %{toolsListChanged: true})
    for _ <- 1..1_000, do: :ok = BeamMCP.notify_changed(@name, :tools)
    assert EventStream.method(stream) == "notifications/tools/list_changed"
    EventStream.close(stream)
  end

  test "another namespace hears nothing", %{there: there} do
    {stream, _} = EventStream.listen(there, %{toolsListChanged: true})
    start_supervised!({BeamMCP, Wire.options(:apart, namespace: :apart)})
    # Of the changes of other tests the last one may be on its way.
    wait_until(fn -> EventStream.silent?(stream, 300) end)
    :ok = BeamMCP.notify_changed(:apart, :tools)
    assert EventStream.silent?(stream, 300)
    assert RawHTTP.modern(there, "tools/list").status == 200
    EventStream.close(stream)
  end
end
