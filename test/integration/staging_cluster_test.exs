for file <- ~w(json cluster), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.StagingClusterTest do
  # Things that are used once, wanted on two nodes at the same moment: one of them gets them.
  use ExUnit.Case, async: false

  alias BeamMCP.StagedStore
  alias BeamMCP.Test.{Cluster, Json, RawHTTP}

  @moduletag :integration
  @moduletag timeout: 120_000

  setup do
    options = [
      namespace: :staging,
      single_use_state: true,
      staged_store: {StagedStore.Mnesia, []}
    ]

    cluster = Cluster.start(2, options)
    on_exit(fn -> Cluster.stop_nodes(cluster) end)
    {:ok, cluster: cluster}
  end

  test "a page that is visited twice gets what waits for it once", %{cluster: cluster} do
    expires_ms = System.system_time(:millisecond) + 60_000

    for number <- 1..25 do
      entry = %{owner: "ada", data: number, expires_ms: expires_ms}
      puts = on_all(cluster, &put(&1, "page-#{number}", entry))
      assert Enum.sort(puts) == [:ok, {:error, :exists}]
      takes = on_all(cluster, &take(&1, "page-#{number}"))
      assert Enum.sort(takes) == [error: :unknown, ok: number]
    end
  end

  test "a round that is sent twice runs once", %{cluster: [a, _b] = cluster} do
    for _ <- 1..10 do
      state = asked(a)
      answers = on_all(cluster, &retry(&1, state))
      assert [%{"error" => error}, %{"result" => result}] = Enum.sort_by(answers, &Map.keys/1)
      assert error["code"] == -32_602
      assert %{"content" => [%{"text" => "{:ok, [%{" <> _roots}]} = result
    end
  end

  defp on_all(cluster, fun),
    do: cluster |> Enum.map(&Task.async(fn -> fun.(&1) end)) |> Task.await_many(10_000)

  defp put(one, id, entry), do: Cluster.call(one, StagedStore.Mnesia, :put, [:staging, id, entry])
  defp take(one, id), do: Cluster.call(one, StagedStore.Mnesia, :take, [:staging, id, "ada"])

  defp asked(one) do
    %{"result" => %{"resultType" => "input_required", "requestState" => state}} = post(one, "")
    state
  end

  defp retry(one, state) do
    answer = ~s("inputResponses":{"input-1":{"roots":[{"uri":"file:///a"}]}})
    post(one, ~s(,#{answer},"requestState":"#{state}"))
  end

  defp post(one, more) do
    capabilities = ~S("io.modelcontextprotocol/clientCapabilities":{)
    body = RawHTTP.body("tools/call", ~s("name":"roots","arguments":{}#{more}))
    body = String.replace(body, capabilities, capabilities <> ~S("roots":{}))
    options = [body: body, headers: [mcp_name: "roots"]]
    Json.decode!(RawHTTP.modern(one.port, "tools/call", "", options).body)
  end
end
