defmodule BeamMCP.Connectome.SchedulersTest do
  # A graph has no bound but its host's memory, so no function of the native library that takes one
  # may run on a normal scheduler: the VM itself says where each ran.
  use ExUnit.Case, async: false

  alias BeamMCP.{ConnectomeVectors, NIF}
  alias BeamMCP.Connectome.{Edge, Graph, Node}

  # What the VM calls the scheduler of a process that is on a dirty one.
  @dirty 0

  @along {[:invoke], []}

  setup_all do
    graph = graph()
    bytes = ConnectomeVectors.bytes("one-tool-v3")
    {:ok, index, 2, 1} = NIF.connectome_index(graph)
    observed = %{graph | edges: for(edge <- graph.edges, do: %{edge | provenance: :observed})}
    {:ok, diff, _classes, _coverage} = NIF.connectome_diff(graph, observed, 3)
    {:ok, federation, _parts, _conflicts} = NIF.connectome_merge([{"a", graph, :sha256}])

    calls = [
      connectome_graph: [graph],
      connectome_index: [graph],
      connectome_encode: [index, 3, :sha256],
      connectome_digest: [index, 3, :sha256],
      connectome_sidecar: [index],
      connectome_dot: [index],
      connectome_graphml: [index],
      connectome_verify: [bytes, nil],
      connectome_decode: [bytes],
      connectome_encode_value: [%{}],
      connectome_digest_value: [%{}, :sha256],
      connectome_diff: [graph, observed, 3],
      connectome_diff_encode: [diff, 3, :sha256, %{}],
      connectome_diff_digest: [diff, 3, :sha256, %{}],
      connectome_effective: [graph, observed],
      connectome_path: [index, "s", "t", [], @along, nil],
      connectome_dominators: [index, "t", [], nil, @along],
      connectome_merge: [[{"a", index, :sha256}]],
      connectome_federation_encode: [federation, :sha256],
      connectome_federation_digest: [federation, :sha256]
    ]

    %{calls: calls}
  end

  test "every function of a connectome runs on a dirty scheduler", %{calls: calls} do
    assert functions() == Enum.sort(for {name, arguments} <- calls, do: {name, length(arguments)})

    for {name, arguments} <- calls do
      {answer, schedulers} = traced(name, arguments)
      refute match?({:error, _reason}, answer), "#{name}: #{inspect(answer)}"
      assert schedulers == [@dirty], "#{name} ran on #{inspect(schedulers)}"
    end
  end

  test "and the VM says so of one that does not" do
    assert {{:ok, _json}, []} = traced(:encode, [1])
  end

  defp functions do
    for {name, arity} <- NIF.__info__(:functions),
        name |> Atom.to_string() |> String.starts_with?("connectome_"),
        do: {name, arity}
  end

  # The answer, and the schedulers on which the VM put the process to run the function.
  defp traced(name, arguments) do
    test = self()

    pid =
      spawn_link(fn ->
        receive do: (:run -> send(test, {:answer, apply(NIF, name, arguments)}))
      end)

    1 = :erlang.trace(pid, true, [:running, :scheduler_id])
    send(pid, :run)
    assert_receive {:answer, answer}, 5_000
    reference = :erlang.trace_delivered(pid)
    assert_receive {:trace_delivered, ^pid, ^reference}, 5_000
    {answer, schedulers(pid, {NIF, name, length(arguments)})}
  end

  defp schedulers(pid, function) do
    receive do
      {:trace, ^pid, :in, ^function, scheduler} -> [scheduler | schedulers(pid, function)]
      {:trace, ^pid, _in_or_out, _function, _scheduler} -> schedulers(pid, function)
    after
      0 -> []
    end
  end

  defp graph do
    server = %Node{id: "s", kind: :server, level: :server}
    tool = %Node{id: "t", kind: :tool, level: :server}
    edge = %Edge{from: "s", to: "t", kind: :invoke, provenance: :declared}
    Graph.new!(schema_version: 3, nodes: [server, tool], edges: [edge])
  end
end
