defmodule BeamMCP.Dispatch.SpanTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome.Observed
  alias BeamMCP.Context
  alias BeamMCP.Dispatch.Span

  setup context do
    collector = Module.concat(__MODULE__, "C#{System.unique_integer([:positive])}")
    start_supervised!({Observed, name: collector, instances: [context.test]})
    instance = %{name: context.test, telemetry?: false, config: %{server_name: "s"}}
    %{collector: collector, instance: instance}
  end

  defp run(instance, offer, fun) do
    context = %Context{
      instance: instance.name,
      call: 1,
      request_id: 1,
      revision: "r",
      transport: :http
    }

    Span.run(instance, offer, context, %{}, fun)
  end

  test "counts without telemetry", %{collector: collector, instance: instance} do
    assert run(instance, {:tool, :t}, fn -> :said end) == :said
    assert run(instance, {:prompt, "p"}, fn -> :said end) == :said
    {:ok, rows} = Observed.rows(collector)

    assert rows |> Enum.map(&{elem(&1, 0), elem(&1, 1)}) |> Enum.sort() == [
             {{{:server, "s"}, {:prompt, "s", "p"}, :read}, 1},
             {{{:server, "s"}, {:tool, "s", :t}, :invoke}, 1}
           ]
  end

  test "hands on what is raised, with its time", %{collector: collector, instance: instance} do
    sleep = fn ->
      Process.sleep(5)
      raise "no"
    end

    assert_raise RuntimeError, fn -> run(instance, {:tool, :t}, sleep) end

    assert {:ok, %{{"s/server", "s/tool/t", :invoke} => %{mean_us: mean}}} =
             Observed.latency(collector)

    assert mean >= 5_000
  end

  test "a completion is no edge", %{collector: collector, instance: instance} do
    assert run(instance, {:completion, {:prompt, "p"}}, fn -> :said end) == :said
    assert Observed.rows(collector) == {:ok, []}
  end

  test "a second collector counts as well", %{collector: collector, instance: instance} do
    other = Module.concat(collector, Other)
    start_supervised!({Observed, name: other, instances: :all})
    run(instance, {:tool, :t}, fn -> :said end)
    assert {:ok, [{_edge, 1, _sum, _max}]} = Observed.rows(collector)
    {:ok, rows} = Observed.rows(other)
    assert Enum.any?(rows, &match?({{{:server, "s"}, {:tool, "s", :t}, :invoke}, 1, _, _}, &1))
  end
end
