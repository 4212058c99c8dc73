# What the connectome costs on a graph of 9,935 edges, natively and in plain Elixir, side by side.
#
#     mix run bench/connectome/connectome.exs ROUNDS
#
# One line of JSON for each piece of work: of turns that alternate, the least and the median CPU time of the VM in
# milliseconds, and the median of the turns' own ratios. Schedulers that wait must not spin: `bin/bench` sees to that.

Code.require_file("reference.exs", __DIR__)

defmodule Bench.Connectome do
  alias Bench.Connectome.Reference
  alias BeamMCP.{Connectome, Native}
  alias BeamMCP.Connectome.{Diff, Edge, Graph, Node, Reach}

  @target "bench/tool/t500"

  # How often a piece of work is done in a turn: the VM counts its CPU time in milliseconds.
  @native_times 40
  @elixir_times 4

  def run(rounds) do
    declared = shared(:declared, graph(:declared, 1))
    observed = shared(:observed, graph(:observed, 77))
    {:ok, index} = Graph.index(declared)
    {:ok, observed_index} = Graph.index(observed)

    for {name, native, reference} <- work(declared, observed, index, observed_index) do
      report(name, native, reference, rounds)
    end
  end

  defp work(declared, observed, index, observed_index) do
    encoded = fn source -> fn -> Connectome.encode!(source) end end
    hashed = fn source -> fn -> Connectome.digest!(source) end end
    compared = fn left, right -> fn -> classes(left, right) end end
    dominators = fn source -> fn -> elem(Reach.mandatory_pass(source, @target), 1) end end
    hops = fn source -> fn -> hops(source) end end

    [
      {"encode, from terms", encoded.(declared), fn -> Reference.encode(declared) end},
      {"encode and hash, from terms", hashed.(declared), fn -> Reference.digest(declared) end},
      {"encode and hash, from an index", hashed.(index), fn -> Reference.digest(declared) end},
      {"diff, from terms", compared.(declared, observed),
       fn -> Reference.diff(declared, observed) end},
      {"diff, from indexes", compared.(index, observed_index),
       fn -> Reference.diff(declared, observed) end},
      {"dominators, from terms", dominators.(declared),
       fn -> Reference.dominators(declared, @target) end},
      {"dominators, from an index", dominators.(index),
       fn -> Reference.dominators(declared, @target) end},
      {"path, from an index", hops.(index),
       fn -> Reference.hops(declared, "bench/server", @target) end}
    ]
  end

  defp classes(left, right) do
    {:ok, diff} = Diff.run(left, right, window: %{})
    Map.delete(diff.classes, :changed_sign)
  end

  defp hops(source) do
    {:ok, path} = Reach.reachable_without(source, "bench/server", @target, [])
    length(path.edges)
  end

  defp report(name, native, reference, rounds) do
    true = native.() == reference.()

    turns =
      for _round <- 1..rounds do
        {time(native, @native_times), time(reference, @elixir_times)}
      end

    {natives, references} = Enum.unzip(turns)

    {:ok, json} =
      Native.encode(%{
        work: name,
        rounds: rounds,
        native_ms: [Enum.min(natives), median(natives)],
        elixir_ms: [Enum.min(references), median(references)],
        ratio: median(for {native, reference} <- turns, do: reference / native)
      })

    IO.puts(json)
  end

  # Each time in a process of its own, which starts with an empty heap.
  defp time(work, times) do
    {before, _since} = :erlang.statistics(:runtime)
    for _time <- 1..times, do: fn -> done(work) end |> Task.async() |> Task.await(:infinity)
    {later, _since} = :erlang.statistics(:runtime)
    (later - before) / times
  end

  defp done(work) do
    work.()
    :done
  end

  # Processes share what stands there; starting one does not copy it.
  defp shared(name, graph) do
    :persistent_term.put({__MODULE__, name}, graph)
    :persistent_term.get({__MODULE__, name})
  end

  defp median(values), do: values |> Enum.sort() |> Enum.at(div(length(values), 2))

  # The graph of `test/fixtures/connectome/large.json` where the seed is 1, with two edges by which
  # the server reaches the tools.
  defp graph(provenance, seed) do
    {labels, _state} =
      Enum.flat_map_reduce(1..10_000, seed, fn _number, state -> label(state) end)

    ways = for n <- [1, 2], do: {"bench/server", "bench/tool/t#{n}", :invoke}

    edges =
      for {from, to, kind} <- Enum.uniq(labels ++ ways),
          do: Edge.new!(from: from, to: to, kind: kind, provenance: provenance)

    tools = for n <- 1..500, do: %Node{id: "bench/tool/t#{n}", kind: :tool, level: :server}
    server = %Node{id: "bench/server", kind: :server, level: :server}
    Graph.new!(schema_version: 3, nodes: [server | tools], edges: edges)
  end

  defp label(state) do
    {from, state} = next(state, 500)
    {to, state} = next(state, 500)
    {kind, state} = next(state, 4)
    kind = Enum.at([:invoke, :read, :message, :supervise], kind)
    {[{"bench/tool/t#{1 + from}", "bench/tool/t#{1 + to}", kind}], state}
  end

  defp next(state, count) do
    state = rem(state * 1_103_515_245 + 12_345, 2 ** 31)
    {rem(Bitwise.bsr(state, 8), count), state}
  end
end

[rounds] = System.argv()
Bench.Connectome.run(String.to_integer(rounds))
