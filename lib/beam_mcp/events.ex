defmodule BeamMCP.Events do
  @moduledoc false
  # Drains the native library's ring of events into telemetry, the log and the host's audit. The ring is bounded:
  # when this process is slow, events are dropped and counted there.

  use GenServer

  alias BeamMCP.{Audit, Decision, Instance, Native, Telemetry}

  # As many as the native library turns into terms at once.
  @batch 200

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name), do: GenServer.start_link(__MODULE__, name)

  @impl GenServer
  def init(name) do
    instance = Instance.fetch!(name)
    :ok = Native.send_events_to(instance.native, self())
    # What was recorded while nobody listened rings no bell.
    {:ok, instance, {:continue, :drain}}
  end

  @impl GenServer
  def handle_continue(:drain, instance), do: drain(instance)

  @impl GenServer
  def handle_info({:beam_mcp, :events}, instance), do: drain(instance)

  defp drain(instance) do
    case Native.events(instance.native, @batch) do
      {[], _dropped} ->
        {:noreply, instance}

      {events, _dropped} ->
        Enum.each(events, &tell(instance, &1))
        drain(instance)
    end
  end

  defp tell(instance, event) do
    Telemetry.native(instance, event)
    audit(instance, event)
  end

  defp audit(%{audit: nil}, _event), do: :ok

  defp audit(instance, event) do
    decision = Decision.of_event(instance.name, event)
    if decision, do: Audit.hand_over(instance, decision)
  end
end
