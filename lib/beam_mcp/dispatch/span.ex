defmodule BeamMCP.Dispatch.Span do
  @moduledoc false
  # What is told of one run of the host's function: to telemetry, where the host has it, and to the
  # collectors of connectomes, where there are any. Both in the call's process.
  #
  # An offer goes by the name under which it was declared: of a template the template, which is no
  # client's to choose.

  alias BeamMCP.Connectome.Observed.{Collector, Row}
  alias BeamMCP.{Context, Instance, Telemetry}

  @type offer :: {:tool | :resource | :prompt | :completion, declared :: term()}

  @spec run(Instance.t(), offer(), Context.t(), map(), (() -> result)) :: result
        when result: term()
  def run(instance, {kind, declared} = offer, context, metadata, run) do
    case rows(instance, kind, declared) do
      [] -> tell(instance, offer, context, metadata, run)
      rows -> count(rows, fn -> tell(instance, offer, context, metadata, run) end)
    end
  end

  defp tell(%{telemetry?: false}, _offer, _context, _metadata, run), do: run.()

  defp tell(_instance, offer, context, metadata, run),
    do: Telemetry.dispatch(offer, context, metadata, run)

  defp rows(_instance, :completion, _declared), do: []

  defp rows(instance, kind, declared) do
    for collector <- Collector.all(),
        Collector.watches?(collector, instance.name),
        row = Collector.row(collector, {kind, instance.config.server_name, declared}),
        do: row
  end

  defp count(rows, run) do
    Enum.each(rows, &Row.began/1)
    began = Row.now()

    try do
      run.()
    after
      duration = Row.now() - began
      Enum.each(rows, &Row.ended(&1, duration))
    end
  end
end
