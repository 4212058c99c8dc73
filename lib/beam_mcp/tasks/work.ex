defmodule BeamMCP.Tasks.Work do
  @moduledoc false
  # Does the work of a task, in the process of the call that began it, and says how it ended.
  #
  # What came of it is turned into JSON here, once: a store keeps what every revision of a client,
  # and every node, can be given.

  require BeamMCP.Asking

  alias BeamMCP.{Asking, Dispatch, Fault, Instance, Native, Outcome, Telemetry}
  alias BeamMCP.Tasks.{Begun, Handle, Keeper}

  @spec run(Instance.t(), Handle.t(), Begun.t(), tuple()) :: :ok
  def run(instance, handle, begun, offer) do
    # The call is over: its request, and its token, go now.
    :erlang.garbage_collect()
    context = %{begun.context | task: handle, deadline_ms: deadline_ms(instance)}

    finish(instance, handle, offer, context, fn ->
      observed(instance, offer, context, begun.run)
    end)
  end

  defp observed(%{telemetry?: false}, _offer, context, run) do
    Asking.guarded(do: run.(context))
  end

  defp observed(_instance, offer, context, run) do
    Telemetry.dispatch(offer, context, %{}, fn -> Asking.guarded(do: run.(context)) end)
  end

  defp finish(instance, handle, offer, context, run) do
    Asking.answer(run.(), &ended(handle, offer, &1))
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, "the task of #{Fault.place(offer)}")
      failed(handle)
      Dispatch.report(instance, offer, context, {kind, reason, __STACKTRACE__})
  else
    # It was over when it asked.
    :asked ->
      :ok

    {:completed, json, fault} ->
      if fault, do: Fault.log_text("the task of #{Fault.place(offer)}: #{fault}")
      Keeper.finish(handle, :completed, json)

    {:error, {_kind, text}} ->
      Fault.log_text("the task of #{Fault.place(offer)} returned what cannot be sent: #{text}")
      failed(handle)
  end

  defp ended(handle, offer, value) do
    answer = Outcome.answer(value)
    if answer == :failed, do: Fault.log_reason("the task of #{Fault.place(offer)}", value)
    Native.job_end(handle.job, answer)
  end

  defp failed(handle) do
    {:completed, json, _fault} = Native.job_end(handle.job, :failed)
    Keeper.finish(handle, :completed, json)
  end

  defp deadline_ms(instance), do: System.os_time(:millisecond) + instance.config.task_ttl_ms
end
