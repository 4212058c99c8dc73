defmodule BeamMCP.Mnesia.Tables do
  @moduledoc false
  # This node's copies of a store's tables: opened when the instance starts, swept while it runs, and
  # given up when it stops in good order.

  use GenServer

  alias BeamMCP.{Instance, Mnesia}

  @typedoc "What the functions of a store work with; the names of its tables are under keys of its own."
  @type store :: %{
          :settings => Mnesia.settings(),
          :clock => (() -> integer()),
          optional(atom()) => term()
        }

  @doc "The store's tables and their definitions, the one first whose first node sweeps."
  @callback tables(store()) :: [{atom(), keyword()}]

  @doc "Removes what has ended."
  @callback sweep(store()) :: term()

  @spec child_spec({module(), namespace :: term(), store()}) :: Supervisor.child_spec()
  def child_spec({module, _namespace, _store} = argument),
    do: %{id: module, start: {__MODULE__, :start_link, [argument]}}

  @spec start_link({module(), term(), store()}) :: GenServer.on_start()
  def start_link(argument), do: GenServer.start_link(__MODULE__, argument)

  @doc "The store of a namespace, unless it is not there or sees no majority of the copies."
  @spec opened(module(), term()) :: {:ok, store()} | {:error, :unavailable}
  def opened(module, namespace) do
    with [{_pid, store}] <- Registry.lookup(BeamMCP.Registry, {namespace, module}),
         true <- Enum.all?(names(module, store), &Mnesia.available?/1) do
      {:ok, store}
    else
      _none_or_minority -> {:error, :unavailable}
    end
  rescue
    # The Registry was killed and is not back.
    ArgumentError -> {:error, :unavailable}
  end

  @impl GenServer
  def init({module, namespace, store}) do
    case open(module.tables(store), store.settings) do
      :ok ->
        :ok = Instance.register(namespace, module, store)
        schedule_sweep(store)
        {:ok, {module, namespace, store}}

      {:error, text} ->
        {:stop, text}
    end
  end

  @impl GenServer
  def handle_info(:sweep, {module, _namespace, store} = state) do
    if module |> names(store) |> hd() |> Mnesia.first?(), do: module.sweep(store)
    schedule_sweep(store)
    {:noreply, state}
  end

  def handle_info({:EXIT, _registry, _reason}, {module, namespace, store} = state) do
    :ok = Instance.register(namespace, module, store)
    {:noreply, state}
  end

  def handle_info(_late, state), do: {:noreply, state}

  @impl GenServer
  def terminate(:shutdown, {module, _namespace, store}),
    do: module |> names(store) |> Enum.each(&Mnesia.leave/1)

  def terminate(_fault, _state), do: :ok

  defp open(tables, settings) do
    Enum.reduce_while(tables, :ok, fn {table, definition}, :ok ->
      case Mnesia.open(table, definition, settings) do
        :ok -> {:cont, :ok}
        error -> {:halt, error}
      end
    end)
  end

  defp names(module, store), do: Enum.map(module.tables(store), &elem(&1, 0))

  defp schedule_sweep(store),
    do: Process.send_after(self(), :sweep, store.settings.sweep_interval_ms)
end
