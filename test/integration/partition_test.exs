for file <- ~w(json message cluster task_client),
    do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.PartitionTest do
  # A cluster that falls apart, and what it takes to mend it: of what Mnesia keeps, the majority's counts.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message
  import BeamMCP.Test.Until

  alias BeamMCP.{SessionStore, StagedStore, TaskStore}
  alias BeamMCP.Test.{Cluster, Json, RawHTTP, TaskClient, TaskHost}

  @moduletag :integration
  @moduletag timeout: 120_000

  setup do
    options =
      TaskHost.options(
        namespace: :apart,
        session_store: {SessionStore.Mnesia, []},
        staged_store: {StagedStore.Mnesia, []},
        task_store: {TaskStore.Mnesia, []}
      )

    cluster = Cluster.start(3, options)
    on_exit(fn -> Cluster.stop_nodes(cluster) end)
    {:ok, cluster: cluster, options: options}
  end

  test "a node that was cut off knows nothing until it is started anew, and then all", %{
    cluster: [a, b, c],
    options: options
  } do
    [before_id, running] =
      for {one, tool} <- [{a, "where"}, {c, "hang"}], do: TaskClient.begin(one, tool)

    TaskClient.await(c, before_id, "completed")
    Cluster.cut(c, [a, b])
    unserved(c, before_id)

    # The others go on. To them, what ran on the node that is gone is lost.
    wait_until(fn -> RawHTTP.post(a.port, initialize(1)).status == 200 end)
    session = session(a)
    entry = %{owner: "ada", data: 7, expires_ms: System.system_time(:millisecond) + 600_000}
    assert staged(a, :put, ["page", entry]) == :ok
    id = TaskClient.begin(b, "where")
    over = TaskClient.await(a, id, "completed")
    lost = TaskClient.await(b, running, "failed")

    # That the network is mended does not tell Mnesia which side counts.
    Cluster.mend(c, [a, b])
    unserved(c, id)
    assert RawHTTP.modern(c.port, "tools/list").status == 200

    c = Cluster.restart(c, [a, b], options)
    assert ping(c, session).status == 200
    assert TaskClient.get(c, id) == over
    assert TaskClient.get(c, running) == lost
    assert staged(c, :take, ["page", "ada"]) == {:ok, 7}
    assert staged(a, :take, ["page", "ada"]) == {:error, :unknown}
    assert ping(b, session(c)).status == 200
  end

  defp unserved(one, id) do
    wait_until(fn -> RawHTTP.post(one.port, initialize(1)).status == 503 end)
    assert TaskClient.ask(one, "tasks/get", id).status == 503
    assert TaskClient.call(one, "where").status == 503
    assert staged(one, :fetch, ["page"]) == {:error, :unavailable}
  end

  defp session(one) do
    response = RawHTTP.post(one.port, initialize(1))
    %{"result" => _initialized} = Json.decode!(response.body)
    [id] = RawHTTP.header_values(response, "mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"]
  end

  defp ping(one, session), do: RawHTTP.post(one.port, legacy(2, "ping"), headers: session)

  defp staged(one, function, arguments),
    do: Cluster.call(one, StagedStore.Mnesia, function, [:apart | arguments])
end
