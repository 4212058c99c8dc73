defmodule BeamMCP.Attendant do
  @moduledoc false
  # The process of a call whose handler runs, or waits, in a process of its own (`BeamMCP.Parked`),
  # perhaps on another node. It holds the call's token, which never leaves its node, and does for the
  # handler what only the call's process can.
  #
  # When a handler that waited is lost - it expired, its node went down, somebody attends it already -
  # it is run again from its start with the answers that the client brings, as every replay is.

  alias BeamMCP.{Instance, Native, Note, Parked, Parking}

  @enforce_keys [:instance, :token, :call, :question]
  defstruct @enforce_keys ++ [:handler, :monitor]

  # How a handler ends that was lost and did not fail.
  @lost [:noconnection, :noproc, {:shutdown, :parking}]

  @doc "Serves the question of a call that the calling process has accepted."
  @spec serve(Native.question(), Instance.t()) :: :ok
  def serve(question, instance) do
    context = elem(question, tuple_size(question) - 1)
    token = elem(question, 1)
    # The handler's process gets no token: one that it held would be dropped with its heap.
    question = put_elem(question, 1, nil)
    state = %__MODULE__{instance: instance, token: token, call: context.call, question: question}
    state |> resume() |> attend()
  end

  defp resume(state) do
    with {note, _expires_ms} when note != nil <- noted(state),
         %Note{place: {_id, _node} = place} <- Note.parse(note),
         {:ok, handler} <- Parking.attach(state.instance, place, state.call) do
      %{state | handler: handler, monitor: Process.monitor(handler)}
    else
      _nothing_or_lost -> start(state)
    end
  end

  defp start(state) do
    arguments = [state.instance.name, state.question, {self(), state.call}]
    {handler, monitor} = spawn_monitor(Parked, :run, arguments)
    %{state | handler: handler, monitor: monitor}
  end

  defp attend(%{handler: handler, monitor: monitor, call: call} = state) do
    receive do
      {:beam_mcp, :request, {from, ref}, request} ->
        send(from, {:beam_mcp, :response, ref, answer(state, request)})
        attend(state)

      {:beam_mcp, :parked, ^handler, note} ->
        parked(state, note)

      # Until the handler has ended, its call keeps its place.
      {:beam_mcp, :cancel, ^call} ->
        :ok = Parking.cancel(state.instance, handler)
        attend(state)

      {:DOWN, ^monitor, :process, ^handler, reason} ->
        ended(state, reason)
    end
  end

  defp answer(state, :noted), do: noted(state)
  defp answer(state, {:ask, questions}), do: ask(state, questions)
  defp answer(state, {:reply, answer}), do: Native.reply(state.token, answer)

  defp answer(state, {:notify, notice}),
    do: Native.notify(state.instance.native, state.call, notice)

  defp answer(state, {:supports, kind}),
    do: Native.supports(state.instance.native, state.call, kind)

  defp noted(state), do: Native.noted(state.instance.native, state.call)

  # The answers to the last question, or why there are none yet.
  defp ask(state, questions) do
    Enum.reduce_while(questions, :gone, fn {questions, optional?}, _before ->
      case Native.ask(state.instance.native, state.call, questions, optional?) do
        {:answers, _answers} = answers -> {:cont, answers}
        other -> {:halt, other}
      end
    end)
  end

  # A client that has left does not come back.
  defp parked(state, note) do
    with :late <- Native.reply(state.token, {:asked, note}),
         do: Parking.cancel(state.instance, state.handler)

    :ok
  end

  # Without an answer the token fails the call when this process ends.
  defp ended(state, reason) do
    if reason in @lost and not Native.cancelled?(state.instance.native, state.call) do
      :ok = Native.restart(state.instance.native, state.call)
      state |> start() |> attend()
    else
      :ok
    end
  end
end
