defmodule BeamMCP.Parked do
  @moduledoc false
  # The process of a handler that may wait for its client between two calls. It has no token: the
  # process of the call that runs, on whatever node that is, asks, tells and answers for it
  # (`BeamMCP.Attendant`). The call's number in its context is `{:parked, pid}`.

  alias BeamMCP.{Asking, Call, Instance, Native, Parking}

  # A node that does not answer so long takes no messages for the client.
  @patience_ms 1_000

  @type call :: {:parked, pid()}

  @doc "The body of the process: runs the question of a call that `attendant` has accepted."
  @spec run(Instance.name(), Native.question(), Parking.attendant()) :: :ok
  def run(name, question, attendant) do
    instance = Instance.fetch!(name)
    place = tuple_size(question) - 1
    context = elem(question, place)
    :ok = Parking.enter(instance, context.principal, attendant)
    Process.put(__MODULE__, %{attendant: attendant, asked: []})
    call = {:parked, self()}

    question
    |> put_elem(place, %{context | call: call})
    |> put_elem(1, call)
    |> Call.serve(instance)
  end

  @doc """
  Asks the client; waits for it beyond the end of the call when it has to. Results as of
  `Native.ask/4`.
  """
  @spec ask(Instance.t(), call(), [Native.input_question()], boolean()) :: term()
  def ask(instance, {:parked, pid}, questions, optional?) when pid == self() do
    state = Process.get(__MODULE__)
    question = {questions, optional?}
    Process.put(__MODULE__, %{state | asked: state.asked ++ [question]})
    ask_attendant(instance, [question])
  end

  def ask(_instance, _call, _questions, _optional?), do: :foreign

  @doc "As `Native.supports/3`."
  @spec supports(call(), String.t()) :: boolean() | :foreign
  def supports({:parked, pid}, kind) when pid == self(),
    do: request(Process.get(__MODULE__).attendant, {:supports, kind}, false)

  def supports(_call, _kind), do: :foreign

  @doc "As `Native.noted/2`."
  @spec noted(call()) :: {String.t() | nil, integer()} | nil
  def noted({:parked, pid}) when pid == self(),
    do: request(Process.get(__MODULE__).attendant, :noted, nil)

  def noted(_call), do: nil

  @doc "As `Native.notify/3`, from any process of the node."
  @spec notify(Instance.t(), call(), Native.notice()) :: :ok | {:error, :busy | :not_increasing}
  def notify(instance, {:parked, handler}, notice) do
    case Parking.attendant(instance, handler) do
      {pid, call} when node(pid) == node() -> Native.notify(instance.native, call, notice)
      {_pid, _call} = attendant -> request(attendant, {:notify, notice}, {:error, :busy})
      _nobody -> :ok
    end
  end

  @doc "As `Native.cancelled?/2`; one that waits for its client is not."
  @spec cancelled?(Instance.t(), call()) :: boolean()
  def cancelled?(instance, {:parked, handler}) do
    case Parking.attendant(instance, handler) do
      {pid, call} when node(pid) == node() -> Native.cancelled?(instance.native, call)
      attendant -> attendant == :cancelled
    end
  end

  @doc "As `Native.reply/2`."
  @spec reply(call(), term()) :: :ok | :late | {:error, Native.reason()}
  def reply({:parked, handler}, answer) when handler == self(),
    do: request(Process.get(__MODULE__).attendant, {:reply, answer}, :late, :infinity)

  # A new attendant knows of no question before, and its client brings the answers to all.
  defp ask_attendant(instance, questions) do
    attendant = Process.get(__MODULE__).attendant

    case request(attendant, {:ask, questions}, :gone, :infinity) do
      :ends -> wait(instance, attendant)
      result -> result
    end
  end

  defp wait(instance, {pid, _call}) do
    with {:ok, place, parking} <- Parking.park(instance) do
      send(pid, {:beam_mcp, :parked, self(), Asking.parked_note(place)})
      await(instance, parking)
    else
      :full -> :ends
    end
  end

  # Without the parking nobody finds this process any more.
  defp await(instance, parking) do
    handler = self()

    receive do
      {:beam_mcp, :resume, attendant} ->
        Process.demonitor(parking, [:flush])
        resume(instance, attendant)

      {:beam_mcp, :cancel, {:parked, ^handler}} ->
        :gone

      {:DOWN, ^parking, :process, _parking, _reason} ->
        :gone
    end
  end

  defp resume(instance, attendant) do
    state = %{Process.get(__MODULE__) | attendant: attendant}
    Process.put(__MODULE__, state)
    ask_attendant(instance, state.asked)
  end

  defp request({pid, _call}, request, otherwise, patience \\ @patience_ms) do
    ref = Process.monitor(pid)
    send(pid, {:beam_mcp, :request, {self(), ref}, request})

    receive do
      {:beam_mcp, :response, ^ref, result} ->
        Process.demonitor(ref, [:flush])
        result

      {:DOWN, ^ref, :process, ^pid, _reason} ->
        otherwise
    after
      patience ->
        Process.demonitor(ref, [:flush])
        otherwise
    end
  end
end
