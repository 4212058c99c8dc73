defmodule BeamMCP.Parking do
  @moduledoc false
  # Knows the handlers of `resume: :park` definitions: who attends them while a call runs, and which of
  # them wait for a client's answers (MCP 2026-07-28 basic/patterns/mrtr).
  #
  # A client carries the node's name and a random id, sealed. Another node looks for that name among
  # the members of its group, so that no atom is made of it, and asks the member for the id.

  use GenServer

  alias BeamMCP.{Call, Group, Instance, Note}

  @attach_ms 1_000

  @typedoc "The process of a call, and the call's number on its node."
  @type attendant :: {pid(), BeamMCP.Native.call()}

  @typedoc "A random id and the name of a node."
  @type place :: {String.t(), String.t()}

  # A row is `{handler, principal, attendant}`; of one that is parked nobody is, of one that was
  # cancelled `:cancelled`.
  @attendant 3

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name), do: GenServer.start_link(__MODULE__, name)

  @doc "Has the calling process known as a handler that `attendant` attends."
  @spec enter(Instance.t(), term(), attendant()) :: :ok
  def enter(instance, principal, attendant),
    do: GenServer.call(own(instance), {:enter, self(), principal, attendant}, :infinity)

  @doc """
  Has the calling process wait: what a client has to bring along to find it again, and a monitor of
  who finds it then.
  """
  @spec park(Instance.t()) :: {:ok, place(), reference()} | :full
  def park(instance) do
    parking = own(instance)

    with {:ok, place} <- GenServer.call(parking, {:park, self()}, :infinity),
         do: {:ok, place, Process.monitor(parking)}
  end

  @doc "Has the calling process attend the handler that waits at `place`, on whatever node that is."
  @spec attach(Instance.t(), place(), BeamMCP.Native.call()) :: {:ok, pid()} | :lost
  def attach(instance, {id, node}, call) do
    there = for member <- members(instance), Atom.to_string(node(member)) == node, do: member
    Enum.find_value(there, :lost, &attach_there(&1, id, {self(), call}))
  end

  @doc "Has a handler told that nobody waits for it, and killed when it does not end."
  @spec cancel(Instance.t(), pid()) :: :ok
  def cancel(instance, handler) do
    for member <- members(instance),
        node(member) == node(handler),
        do: GenServer.cast(member, {:cancel, handler})

    :ok
  end

  @doc "Who attends a handler of this node; nil while it is parked."
  @spec attendant(Instance.t(), pid()) :: attendant() | nil | :cancelled
  def attendant(instance, handler) do
    :ets.lookup_element(table(instance.name), handler, @attendant)
  rescue
    # It has ended, or the instance has.
    ArgumentError -> :cancelled
  end

  @doc "How many handlers are parked on this node."
  @spec count(Instance.name()) :: non_neg_integer()
  def count(name) do
    :ets.select_count(table(name), [{{:_, :_, nil}, [], [true]}])
  rescue
    ArgumentError -> 0
  end

  @impl GenServer
  def init(name) do
    instance = Instance.fetch!(name)
    table = :ets.new(:parked, [:protected, read_concurrency: true])
    :ok = Instance.register(name, __MODULE__, table)
    :ok = Group.join(instance, __MODULE__)

    {:ok,
     %{instance: instance, table: table, watched: %{}, places: %{}, principals: %{}, parked: 0}}
  end

  @impl GenServer
  def handle_call({:enter, handler, principal, attendant}, _from, state) do
    :ets.insert(state.table, {handler, principal, attendant})
    {:reply, :ok, state |> watch(handler, :handler) |> watch_attendant(handler, attendant)}
  end

  def handle_call({:park, handler}, _from, state) do
    with [{^handler, principal, _attendant}] <- :ets.lookup(state.table, handler),
         false <- full?(state, principal) do
      id = Note.random()
      :ets.update_element(state.table, handler, {@attendant, nil})
      Process.send_after(self(), {:expire, id}, state.instance.config.request_state_ttl_ms)
      state = put_in(state.places[id], handler)
      {:reply, {:ok, {id, Atom.to_string(node())}}, count(state, principal, 1)}
    else
      # One that entered before this process had to start again is run again, too.
      _unknown_or_full -> {:reply, :full, state}
    end
  end

  def handle_call({:attach, id, attendant}, _from, state) do
    {handler, places} = Map.pop(state.places, id)

    case handler && :ets.lookup(state.table, handler) do
      [{^handler, principal, nil}] ->
        :ets.update_element(state.table, handler, {@attendant, attendant})
        send(handler, {:beam_mcp, :resume, attendant})
        state = count(%{state | places: places}, principal, -1)
        {:reply, {:ok, handler}, watch_attendant(state, handler, attendant)}

      _gone_or_attended ->
        {:reply, :lost, %{state | places: places}}
    end
  end

  @impl GenServer
  def handle_cast({:cancel, handler}, state), do: {:noreply, cancelled(state, handler)}

  @impl GenServer
  def handle_info({:DOWN, ref, :process, pid, _reason}, state) do
    case Map.pop(state.watched, ref) do
      {:handler, watched} ->
        {:noreply, forget(%{state | watched: watched}, pid)}

      {{:attendant, handler}, watched} ->
        {:noreply, left(%{state | watched: watched}, handler, pid)}

      {nil, _watched} ->
        :ok = Group.rejoin()
        {:noreply, state}
    end
  end

  def handle_info({:expire, id}, state) do
    case Map.pop(state.places, id) do
      {nil, _places} -> {:noreply, state}
      {handler, places} -> {:noreply, cancelled(%{state | places: places}, handler)}
    end
  end

  def handle_info(:join, state) do
    :ok = Group.join(state.instance, __MODULE__)
    {:noreply, state}
  end

  def handle_info({:EXIT, _registry, _reason}, state) do
    :ok = Instance.register(state.instance.name, __MODULE__, state.table)
    {:noreply, state}
  end

  def handle_info(_late, state), do: {:noreply, state}

  @impl GenServer
  def terminate(_reason, state) do
    for {handler, _principal, _attendant} <- :ets.tab2list(state.table),
        do: Process.exit(handler, {:shutdown, :parking})
  end

  # The process of the call has ended before its handler did.
  defp left(state, handler, pid) do
    case :ets.lookup(state.table, handler) do
      [{^handler, _principal, {^pid, _call}}] -> cancelled(state, handler)
      _parked_or_gone -> state
    end
  end

  defp cancelled(state, handler) do
    case :ets.lookup(state.table, handler) do
      [{^handler, principal, attendant}] when attendant != :cancelled ->
        :ets.update_element(state.table, handler, {@attendant, :cancelled})
        %{name: name, config: config} = state.instance
        {:ok, _timer} = :timer.kill_after(config.cancel_grace_ms, handler)
        :ok = Call.tell_cancelled(name, {:parked, handler}, handler)
        if attendant == nil, do: count(state, principal, -1), else: state

      _gone ->
        state
    end
  end

  # Its place, when it had one, is forgotten when it expires.
  defp forget(state, handler) do
    [{^handler, principal, attendant}] = :ets.take(state.table, handler)
    if attendant == nil, do: count(state, principal, -1), else: state
  end

  defp full?(%{instance: %{config: config}} = state, principal) do
    state.parked >= config.max_parked or
      Map.get(state.principals, principal, 0) >= config.max_parked_per_principal
  end

  # Anonymous callers cannot be told apart, so only the total binds them.
  defp count(state, :anonymous, by), do: %{state | parked: state.parked + by}

  defp count(state, principal, by) do
    principals =
      case Map.get(state.principals, principal, 0) + by do
        0 -> Map.delete(state.principals, principal)
        count -> Map.put(state.principals, principal, count)
      end

    %{state | parked: state.parked + by, principals: principals}
  end

  defp watch_attendant(state, handler, {pid, _call}), do: watch(state, pid, {:attendant, handler})

  defp watch(state, pid, as), do: put_in(state.watched[Process.monitor(pid)], as)

  defp members(instance), do: Group.members(instance, __MODULE__)

  defp attach_there(member, id, attendant) do
    with :lost <- GenServer.call(member, {:attach, id, attendant}, @attach_ms), do: nil
  catch
    :exit, _gone_or_late -> nil
  end

  # One that died is started again at once.
  defp own(instance, tries \\ 100) do
    case Registry.lookup(BeamMCP.Registry, {instance.name, __MODULE__}) do
      [{pid, _table}] ->
        pid

      [] when tries > 0 ->
        Process.sleep(10)
        own(instance, tries - 1)
    end
  end

  defp table(name) do
    case Registry.lookup(BeamMCP.Registry, {name, __MODULE__}) do
      [{_pid, table}] -> table
      [] -> raise ArgumentError, "no parking"
    end
  end
end
