defmodule BeamMCP.ConnectomeClusterTest do
  # Two nodes: what is observed there is fetched from here.
  use ExUnit.Case, async: false

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Cluster, Federation, Observed}
  alias BeamMCP.Test.Distribution

  @moduletag :integration
  @collector __MODULE__.Seen

  setup_all do
    Distribution.start()

    {:ok, peer, node} =
      :peer.start_link(%{
        name: :peer.random_name(),
        host: ~c"127.0.0.1",
        longnames: true,
        args: Enum.flat_map(:code.get_path(), &[~c"-pa", &1]),
        connection: :standard_io
      })

    true = Node.connect(node)
    {:ok, _} = :peer.call(peer, Application, :ensure_all_started, [:beam_mcp])
    # Not linked to the process of this call.
    {:ok, _} = :peer.call(peer, Supervisor, :start_child, [BeamMCP.Supervisor, child()])
    start_supervised!(child())
    %{peer: peer, there: node}
  end

  setup %{peer: peer}, do: :peer.call(peer, Observed, :reset, [@collector])

  defp child, do: {Observed, name: @collector, instances: []}

  test "graphs of both nodes are parts of one record", %{peer: peer, there: there} do
    edge = [@collector, {:server, "s"}, {:tool, "s", :t}, :invoke]
    :ok = :peer.call(peer, Observed, :observe, edge)
    assert {:ok, parts, []} = Cluster.observed([node(), there], @collector)
    assert [{_here, %{edges: []}}, {member, %{edges: [%{weight: 1}]}}] = parts
    assert member == Atom.to_string(there)

    {:ok, federation} = Federation.merge(parts)
    {:ok, bytes} = Federation.encode(federation)
    assert bytes =~ ~s("id":"#{there}/s/tool/t")
    assert {:ok, %{schema_version: 4}} = Connectome.verify(bytes)
  end

  test "a node without that collector, and one that has gone, are failures", %{there: there} do
    assert {:ok, [], [{^there, :not_started}]} = Cluster.observed([there], No.Collector)

    assert Cluster.observed([:"gone@127.0.0.1"], @collector) ==
             {:ok, [], ["gone@127.0.0.1": :noconnection]}
  end

  test "the task asks a running node", %{peer: peer, there: there} do
    :ok =
      :peer.call(peer, Observed, :observe, [@collector, {:server, "s"}, {:tool, "s", :u}, :invoke])

    file = Path.join(System.tmp_dir!(), "connectome-#{System.unique_integer([:positive])}.json")
    on_exit(fn -> File.rm(file) end)

    Mix.Tasks.BeamMcp.Connectome.run([
      "observed",
      "--node",
      "#{there}",
      "--collector",
      inspect(@collector),
      "--output",
      file
    ])

    assert {:ok, %{edges: [%{to: "s/tool/u"}]}} = Connectome.decode(File.read!(file))
  end
end
