defmodule BeamMCP.Test.Peer do
  @moduledoc false
  # The process at the other end of a pipe into the native library, in the place of a client's
  # program: it numbers requests, keeps answers until they are asked for, and passes notifications
  # on to the process that connected it. It ends with that process and with the instance.

  use GenServer, restart: :temporary

  alias BeamMCP.{Identity, Instance, Native, Options}
  alias BeamMCP.Test.{Answer, Client, Request}

  @acknowledged "notifications/subscriptions/acknowledged"
  @subscription_id "io.modelcontextprotocol/subscriptionId"

  # The native library has room for a few lines that it has not come to.
  @retry_ms 1

  @enforce_keys [:client, :owner, :settings, :pipe]
  defstruct @enforce_keys ++ [next: 1, waiting: %{}, answers: %{}, unsent: :queue.new()]

  @typedoc "What came back: the response, or that the request was cancelled before, or is known already."
  @type answer :: {:ok, map()} | {:error, map()} | :cancelled | :taken

  @doc "Connects to a running instance, linked to the caller, which gets the notifications."
  @spec start_link(Instance.t(), map()) :: {:ok, pid()}
  def start_link(instance, settings) do
    settings = Map.put(settings, :answer, nil)
    callers = [self() | Process.get(:"$callers", [])]
    GenServer.start_link(__MODULE__, {instance, settings, callers})
  end

  @doc "The number of the next request, and the settings to write it by."
  @spec next(pid()) :: {pos_integer(), map()}
  def next(peer), do: GenServer.call(peer, :next, :infinity)

  @doc "Changes a setting for later requests."
  @spec set(pid(), atom(), term()) :: :ok
  def set(peer, key, value), do: GenServer.call(peer, {:set, key, value}, :infinity)

  @doc "Sends a line that nothing answers."
  @spec send_line(pid(), binary()) :: :ok
  def send_line(peer, line), do: GenServer.call(peer, {:line, line}, :infinity)

  @doc "Sends the line of request `id`."
  @spec send_request(pid(), pos_integer(), binary()) :: :ok
  def send_request(peer, id, line), do: GenServer.call(peer, {:request, id, line}, :infinity)

  @doc "Sends the line that cancels request `id`; it counts as cancelled unless it was answered."
  @spec cancel(pid(), pos_integer(), binary()) :: :ok
  def cancel(peer, id, line), do: GenServer.call(peer, {:cancel, id, line}, :infinity)

  @doc "Waits for the answer to request `id`, which can be had once."
  @spec await(pid(), pos_integer(), timeout()) :: answer()
  def await(peer, id, timeout_ms), do: GenServer.call(peer, {:await, id}, timeout_ms)

  @doc "Sends the line of request `id`, which is answered by a stream."
  @spec send_listen(pid(), pos_integer(), binary()) :: :ok
  def send_listen(peer, id, line), do: GenServer.call(peer, {:listen, id, line}, :infinity)

  @doc "Waits until the stream that request `id` asked for has begun, or is refused."
  @spec await_begin(pid(), pos_integer(), timeout()) :: answer()
  def await_begin(peer, id, timeout_ms),
    do: GenServer.call(peer, {:await, {:begin, id}}, timeout_ms)

  @impl GenServer
  def init({instance, settings, [owner | _rest] = callers}) do
    Process.monitor(owner)
    Process.monitor(instance.supervisor)
    client = %Client{pid: self(), instance: instance.name, revision: settings.revision}

    {:ok, pipe} = Native.start_stdio(instance.native, pipe_options(settings, callers))
    {:ok, %__MODULE__{client: client, owner: owner, settings: settings, pipe: pipe}}
  end

  defp pipe_options(settings, callers) do
    identity = Identity.encode(settings.principal, settings.scopes, {:callers, callers})

    :stdio
    |> Options.validate!(drain_timeout_ms: 0)
    |> Map.merge(%{mode: :lines, identity: identity, scopes: settings.scopes})
  end

  @impl GenServer
  def handle_call(:next, _from, state),
    do: {:reply, {state.next, state.settings}, %{state | next: state.next + 1}}

  def handle_call({:set, key, value}, _from, state),
    do: {:reply, :ok, put_in(state.settings[key], value)}

  def handle_call({:line, line}, _from, state), do: {:reply, :ok, push(state, line)}

  def handle_call({:request, id, line}, _from, state) do
    {:reply, :ok, push(%{state | waiting: Map.put(state.waiting, id, nil)}, line)}
  end

  def handle_call({:listen, id, line}, _from, state) do
    waiting = Map.merge(state.waiting, %{id => nil, {:begin, id} => nil})
    {:reply, :ok, push(%{state | waiting: waiting}, line)}
  end

  def handle_call({:cancel, id, line}, _from, state) do
    {:reply, :ok, state |> push(line) |> end_request(id, :cancelled)}
  end

  def handle_call({:await, id}, from, state) when is_map_key(state.waiting, id) do
    {:noreply, put_in(state.waiting[id], from)}
  end

  def handle_call({:await, id}, _from, state) do
    {answer, answers} = Map.pop(state.answers, id, :taken)
    {:reply, answer, %{state | answers: answers}}
  end

  @impl GenServer
  def handle_info({:beam_mcp, :stdio_write, line}, state) do
    :ok = Native.stdio_written(state.pipe)
    {:ok, message} = Native.decode(line)
    {:noreply, take(state, message)}
  end

  def handle_info(:push, state), do: {:noreply, push_unsent(state)}
  def handle_info({:beam_mcp, :stdio_end, _number, _reason}, state), do: {:stop, :normal, state}
  def handle_info({:DOWN, _ref, :process, _pid, _reason}, state), do: {:stop, :normal, state}

  defp take(state, %{"id" => id, "method" => method} = request) do
    {peer, answer} = {self(), state.settings.answer}
    callers = [state.owner | Process.get(:"$callers", [])]

    # It may take its time, and ask this process something.
    spawn_link(fn ->
      Process.put(:"$callers", callers)
      response = Answer.response(answer, method, request["params"] || %{})
      send_line(peer, Request.line(Map.put(response, :id, id)))
    end)

    state
  end

  defp take(state, %{"method" => method} = notification) do
    params = notification["params"]
    send(state.owner, {:mcp, state.client, method, params})

    case {method, params} do
      {@acknowledged, %{"_meta" => %{@subscription_id => id}}} ->
        answer(state, {:begin, id}, {:ok, params})

      _other ->
        state
    end
  end

  defp take(state, %{"id" => id, "result" => result}), do: end_request(state, id, {:ok, result})

  defp take(state, %{"id" => id, "error" => error}) do
    %{"code" => code, "message" => message} = error
    end_request(state, id, {:error, %{code: code, message: message, data: error["data"]}})
  end

  # A stream that was refused never begins.
  defp end_request(state, id, answer),
    do: state |> answer(id, answer) |> answer({:begin, id}, answer)

  # An answer may cross the cancellation of its request; then nobody waits for it any more.
  defp answer(state, id, answer) do
    case Map.pop(state.waiting, id, :answered) do
      {:answered, _waiting} ->
        state

      {nil, waiting} ->
        %{state | waiting: waiting, answers: Map.put(state.answers, id, answer)}

      {from, waiting} ->
        GenServer.reply(from, answer)
        %{state | waiting: waiting}
    end
  end

  defp push(state, line), do: push_unsent(%{state | unsent: :queue.in(line, state.unsent)})

  defp push_unsent(state) do
    with {{:value, line}, rest} <- :queue.out(state.unsent) do
      case Native.stdio_line(state.pipe, line) do
        :ok ->
          push_unsent(%{state | unsent: rest})

        :busy ->
          Process.send_after(self(), :push, @retry_ms)
          state
      end
    else
      {:empty, _queue} -> state
    end
  end
end
