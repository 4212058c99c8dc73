Code.require_file("support/cluster.exs", __DIR__)

defmodule BeamMCP.ReplaysClusterTest do
  # A proof is good once on all nodes that share a replay store.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  alias BeamMCP.ReplayStore
  alias BeamMCP.Test.{Cluster, RawHTTP}

  @moduletag :integration
  @moduletag timeout: 120_000

  @fixtures Path.expand("../fixtures/auth", __DIR__)

  setup do
    issuer = [
      issuer: "https://auth.example.com",
      keys: {:static, File.read!(Path.join(@fixtures, "jwks.json"))}
    ]

    oauth = [resource: "https://mcp.example.com/mcp", issuers: [issuer], now_s: 1_800_000_000]

    cluster =
      Cluster.start(2,
        namespace: :cluster,
        clustered: true,
        replay_store: {ReplayStore.Mnesia, []},
        http: [authorize: {:oauth, oauth}]
      )

    on_exit(fn -> Cluster.stop_nodes(cluster) end)
    {:ok, cluster: cluster}
  end

  test "of a hundred copies over two nodes one is accepted", %{cluster: [a, b]} do
    for id <- ["dpop-valid-es256", "dpop-valid-rs256"] do
      statuses =
        1..50
        |> Enum.flat_map(fn _copy -> [a.port, b.port] end)
        |> Task.async_stream(&call(&1, id).status, max_concurrency: 100, timeout: 30_000)
        |> Enum.frequencies_by(fn {:ok, status} -> status end)

      assert statuses == %{200 => 1, 401 => 99}
    end
  end

  test "a node that is alone accepts none", %{cluster: [a, b]} do
    assert call(a.port, "dpop-valid-es256").status == 200
    Cluster.kill(b)
    wait_until(fn -> call(a.port, "dpop-valid-rs256").status == 503 end)
  end

  defp call(port, id) do
    one = Enum.find(cases(), &(&1["id"] == id))["request"]
    headers = [authorization: one["authorization"], dpop: one["dpop"]]
    RawHTTP.call(port, "whoami", "{}", headers: headers)
  end

  defp cases do
    {:ok, %{"cases" => cases}} =
      @fixtures |> Path.join("dpop.json") |> File.read!() |> BeamMCP.Native.decode()

    cases
  end
end
