defmodule BeamMCP.OAuth.Introspection do
  @moduledoc false
  # Decides when the issuer of a listener is asked about a token (RFC 7662). One question about a token
  # is under way at a time; who needs the answer meanwhile waits for it. Token and answer stay in the
  # native library: here a token is its digest, and an answer whether there was one.

  use GenServer

  require Logger

  alias BeamMCP.{Instance, Native, OAuth}

  # Longer than a question takes.
  @ask_ms 6_000

  @max_asked 100
  @max_waiting 1_000

  # Tokens that nobody issued can make an issuer fail at will.
  @log_pause_ms 10_000

  @spec child_spec({Instance.name(), non_neg_integer(), OAuth.t()}) :: Supervisor.child_spec()
  def child_spec({_name, index, _oauth} = argument),
    do: %{id: {__MODULE__, index}, start: {__MODULE__, :start_link, [argument]}}

  @spec start_link({Instance.name(), non_neg_integer(), OAuth.t()}) :: GenServer.on_start()
  def start_link({_name, _number, _oauth} = argument),
    do: GenServer.start_link(__MODULE__, argument)

  @doc "Has the issuer asked: `:ok` once its answer is known natively, or `:failed`."
  @spec ask(Instance.name(), non_neg_integer(), digest :: binary(), Native.inquiry()) ::
          :ok | :failed
  def ask(name, number, digest, inquiry) do
    GenServer.call(Instance.via(name, {__MODULE__, number}), {:ask, digest, inquiry}, @ask_ms)
  catch
    :exit, _gone_or_slow -> :failed
  end

  @impl GenServer
  def init({name, number, oauth}) do
    place = {name, {__MODULE__, number}}
    :ok = register(place)

    {:ok,
     %{
       place: place,
       guard: oauth.guard,
       clock: oauth.clock,
       issuer: oauth.introspects,
       # Digest => who waits for what the issuer says of that token.
       asked: %{},
       waiting: 0,
       logged_ms: nil
     }}
  end

  @impl GenServer
  def handle_call({:ask, digest, inquiry}, from, state) do
    cond do
      state.waiting >= @max_waiting ->
        {:reply, :failed, state}

      is_map_key(state.asked, digest) ->
        {:noreply, wait(state, digest, from)}

      map_size(state.asked) >= @max_asked ->
        {:reply, :failed, log(state, "#{@max_asked} questions are under way already")}

      true ->
        :ok = Native.introspect(state.guard, inquiry, self(), digest)
        {:noreply, wait(state, digest, from)}
    end
  end

  @impl GenServer
  def handle_info({:beam_mcp, :introspected, digest, outcome}, state) do
    {waiting, asked} = Map.pop!(state.asked, digest)
    state = %{state | asked: asked, waiting: state.waiting - length(waiting)}

    case outcome do
      :ok ->
        answer(waiting, :ok)
        {:noreply, state}

      {:error, text} ->
        answer(waiting, :failed)
        {:noreply, log(state, text)}
    end
  end

  def handle_info({:EXIT, _registry, _reason}, state) do
    :ok = register(state.place)
    {:noreply, state}
  end

  defp register({name, role}), do: Instance.register(name, role, nil)

  defp wait(state, digest, from) do
    asked = Map.update(state.asked, digest, [from], &[from | &1])
    %{state | asked: asked, waiting: state.waiting + 1}
  end

  defp answer(waiting, answer), do: Enum.each(waiting, &GenServer.reply(&1, answer))

  defp log(state, text) do
    now_ms = state.clock.()

    if state.logged_ms == nil or now_ms - state.logged_ms >= @log_pause_ms do
      Logger.warning("[BeamMCP] #{state.issuer} cannot be asked about tokens: #{text}")
      %{state | logged_ms: now_ms}
    else
      state
    end
  end
end
