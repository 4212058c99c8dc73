# What a collector of a connectome costs each call.
#
#     MIX_ENV=prod mix run bench/connectome/observed.exs
#
# Runs the same host function for an instance that a collector watches and for one that none watches, in turns,
# and prints the medians over the rounds of the time for one run, their difference and their ratio. A round is shorter
# than a time slice, so that on a busy machine most are whole. The bound is 1.5 µs more, the target 0.5 µs.

defmodule Bench.Observed do
  alias BeamMCP.Connectome.Observed
  alias BeamMCP.Context
  alias BeamMCP.Dispatch.Span

  @rounds 2_001
  @calls 500
  @tools List.to_tuple(for n <- 1..50, do: "tool_#{n}")

  def run do
    {:ok, pid} = Observed.start_link(name: __MODULE__, instances: [:watched])
    rounds = Task.await(Task.async(&rounds/0), :infinity)
    GenServer.stop(pid)
    {without, with_one} = Enum.unzip(rounds)
    cost = median(for {without, with_one} <- rounds, do: with_one - without)
    ratio = median(for {without, with_one} <- rounds, do: with_one / without)

    IO.puts("not watched   #{text(median(without))} µs")
    IO.puts("watched       #{text(median(with_one))} µs")
    IO.puts("a call costs  #{text(cost)} µs more, #{text(ratio)} times an empty one")
    if cost > 1.5, do: exit({:shutdown, 1})
  end

  defp rounds do
    for _ <- 1..@rounds, do: {span_us(instance(:not_watched)), span_us(instance(:watched))}
  end

  defp instance(name), do: %{name: name, telemetry?: false, config: %{server_name: "bench"}}

  defp span_us(instance) do
    context = %Context{
      instance: instance.name,
      call: 1,
      request_id: 1,
      revision: "r",
      transport: :http
    }

    began = System.monotonic_time(:nanosecond)
    calls(@calls, instance, context)
    (System.monotonic_time(:nanosecond) - began) / @calls / 1_000
  end

  defp calls(0, _instance, _context), do: :ok

  defp calls(n, instance, context) do
    tool = elem(@tools, rem(n, tuple_size(@tools)))
    Span.run(instance, {:tool, tool}, context, %{}, fn -> :host end)
    calls(n - 1, instance, context)
  end

  defp median(values), do: values |> Enum.sort() |> Enum.at(div(length(values), 2))
  defp text(value), do: :erlang.float_to_binary(value * 1.0, decimals: 2)
end

Bench.Observed.run()
