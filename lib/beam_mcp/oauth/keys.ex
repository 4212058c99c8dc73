defmodule BeamMCP.OAuth.Keys do
  @moduledoc false
  # Decides when the keys of a listener's issuers are fetched. One fetch of an issuer is in flight
  # at a time; who needs newer keys meanwhile waits for it. What is fetched goes straight to the
  # native guard, which alone reads it.

  use GenServer

  require Logger

  alias BeamMCP.{Instance, Native, OAuth, Telemetry}
  alias BeamMCP.OAuth.Source

  @fetch_ms 15_000

  # Asking again for a key that is not there is worth it no sooner than this.
  @pause_ms 30_000

  @retry_ms 5_000
  @max_retry_ms 300_000
  @stale_ms 3_600_000
  @max_waiting 1_000

  @spec child_spec({Instance.name(), non_neg_integer(), OAuth.t()}) :: Supervisor.child_spec()
  def child_spec({_name, index, _oauth} = argument),
    do: %{id: {__MODULE__, index}, start: {__MODULE__, :start_link, [argument]}}

  @spec start_link({Instance.name(), non_neg_integer(), OAuth.t()}) :: GenServer.on_start()
  def start_link({_name, _number, _oauth} = argument),
    do: GenServer.start_link(__MODULE__, argument)

  @doc "Has newer keys fetched where that is due: `:ok` once they are as new as can be, or `:failed`."
  @spec refresh(Instance.name(), non_neg_integer(), non_neg_integer()) :: :ok | :failed
  def refresh(name, number, issuer) do
    GenServer.call(Instance.via(name, {__MODULE__, number}), {:refresh, issuer}, @fetch_ms)
  catch
    :exit, _gone_or_slow -> :failed
  end

  @impl GenServer
  def init({name, number, oauth}) do
    place = {name, {__MODULE__, number}}
    :ok = register(place)

    state = %{
      name: name,
      place: place,
      guard: oauth.guard,
      clock: oauth.clock,
      issuers: issuers(oauth)
    }

    # Those of a process that was killed have no age.
    for index <- Map.keys(state.issuers), do: {:ok, 0} = Native.set_keys(oauth.guard, index, nil)

    {:ok, state, {:continue, :fetch_all}}
  end

  @impl GenServer
  def handle_continue(:fetch_all, state) do
    {:noreply, Enum.reduce(Map.keys(state.issuers), state, &fetch(&2, &1))}
  end

  @impl GenServer
  def handle_call({:refresh, index}, from, state) do
    case state.issuers do
      %{^index => issuer} -> refresh(state, index, issuer, from)
      _fixed -> {:reply, :ok, state}
    end
  end

  @impl GenServer
  def handle_info({:beam_mcp, :fetched, {index, ref}, outcome}, state) do
    case state.issuers[index] do
      %{fetching: ^ref, source: source} = issuer ->
        {:noreply, step(state, index, issuer, Source.next(source, outcome))}

      _late ->
        {:noreply, state}
    end
  end

  def handle_info({:fetch, index}, state), do: {:noreply, fetch(state, index)}

  def handle_info({:EXIT, _registry, _reason}, state) do
    :ok = register(state.place)
    {:noreply, state}
  end

  defp issuers(oauth) do
    for {source, index} <- Enum.with_index(oauth.sources), source != nil, into: %{} do
      {index,
       %{
         source: source,
         fetching: nil,
         waiting: [],
         timer: nil,
         # When the keys came in, until when they are fresh, and when they were asked for last.
         came_ms: nil,
         count: 0,
         fresh_until_ms: nil,
         asked_ms: nil,
         retry_ms: @retry_ms
       }}
    end
  end

  defp register({name, role}), do: Instance.register(name, role, nil)

  defp refresh(state, index, issuer, from) do
    cond do
      length(issuer.waiting) >= @max_waiting ->
        {:reply, :failed, state}

      issuer.fetching != nil ->
        {:noreply, wait(state, index, issuer, from)}

      due?(issuer, state.clock.()) ->
        {:noreply, state |> wait(index, issuer, from) |> fetch(index)}

      issuer.came_ms == nil ->
        {:reply, :failed, state}

      true ->
        {:reply, :ok, state}
    end
  end

  # After a failure the timer says when it is time again; without any keys nobody can wait for it.
  defp due?(%{asked_ms: nil}, _now_ms), do: true
  defp due?(%{came_ms: nil} = issuer, now_ms), do: now_ms - issuer.asked_ms >= @retry_ms
  defp due?(issuer, now_ms), do: now_ms - issuer.asked_ms >= @pause_ms

  defp wait(state, index, issuer, from),
    do: put_in(state.issuers[index], %{issuer | waiting: [from | issuer.waiting]})

  defp fetch(state, index) do
    case state.issuers[index] do
      %{fetching: nil} = issuer ->
        request(state, index, %{issuer | asked_ms: state.clock.()}, Source.first(issuer.source))

      _under_way ->
        state
    end
  end

  defp request(state, index, issuer, {url, source}) do
    ref = make_ref()
    :ok = Native.fetch(url, source.allow_private?, source.trust, self(), {index, ref})
    put_in(state.issuers[index], %{issuer | fetching: ref, source: source})
  end

  defp step(state, index, issuer, {:fetch, url, source}),
    do: request(state, index, issuer, {url, source})

  defp step(state, index, issuer, {:keys, body, max_age_s}) do
    case Native.set_keys(state.guard, index, body) do
      {:ok, count} -> came(state, index, %{issuer | count: count}, fresh_ms(max_age_s))
      {:error, {_kind, text}} -> failed(state, index, issuer, :no_set, text)
    end
  end

  defp step(state, index, issuer, {:error, kind, text}),
    do: failed(state, index, issuer, kind, text)

  defp came(state, index, issuer, fresh_ms) do
    now_ms = state.clock.()
    Telemetry.keys(state.name, issuer.source.issuer, :fetched, issuer.count, 0)
    answer(issuer, :ok)

    issuer = %{
      issuer
      | came_ms: now_ms,
        fresh_until_ms: now_ms + fresh_ms,
        asked_ms: now_ms,
        retry_ms: @retry_ms
    }

    again(state, index, issuer, div(fresh_ms * 4, 5))
  end

  defp failed(state, index, issuer, kind, text) do
    Logger.warning("[BeamMCP] the keys of #{issuer.source.issuer} cannot be had: #{text}")
    issuer = drop_old(state, index, issuer, kind)
    tell_failed(state, issuer)
    answer(issuer, :failed)
    retry_ms = issuer.retry_ms
    # A fetch may have taken longer to fail than is waited between two.
    issuer = %{issuer | asked_ms: state.clock.(), retry_ms: min(retry_ms * 2, @max_retry_ms)}
    again(state, index, issuer, retry_ms)
  end

  # Old keys serve on while the issuer cannot be reached; one that answers something else has said
  # that they are none.
  defp drop_old(_state, _index, %{came_ms: nil} = issuer, _kind), do: issuer

  defp drop_old(state, index, issuer, kind) do
    grace_ms = if kind == :unreachable, do: @stale_ms, else: @retry_ms

    if state.clock.() > issuer.fresh_until_ms + grace_ms do
      {:ok, 0} = Native.set_keys(state.guard, index, nil)
      %{issuer | came_ms: nil, count: 0, fresh_until_ms: nil}
    else
      issuer
    end
  end

  defp tell_failed(state, %{came_ms: nil} = issuer),
    do: Telemetry.keys(state.name, issuer.source.issuer, :none, 0, 0)

  defp tell_failed(state, issuer) do
    age_ms = state.clock.() - issuer.came_ms
    Telemetry.keys(state.name, issuer.source.issuer, :stale, issuer.count, age_ms)
  end

  defp answer(issuer, answer), do: for(from <- issuer.waiting, do: GenServer.reply(from, answer))

  defp again(state, index, issuer, after_ms) do
    if issuer.timer, do: Process.cancel_timer(issuer.timer)
    timer = Process.send_after(self(), {:fetch, index}, after_ms)
    source = Source.reset(issuer.source)

    put_in(state.issuers[index], %{
      issuer
      | fetching: nil,
        waiting: [],
        timer: timer,
        source: source
    })
  end

  # Five minutes, or what the answer says within a minute and an hour.
  defp fresh_ms(nil), do: 300_000
  defp fresh_ms(max_age_s), do: 1_000 * (max_age_s |> max(60) |> min(3_600))
end
