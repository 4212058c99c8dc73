defmodule BeamMCP.TaskStore.Mnesia do
  @moduledoc """
  Tasks that several nodes have in common, in the Mnesia that the host runs, by the rules of
  `BeamMCP.SessionStore.Mnesia`: two tables, named after the instance's `namespace`, and a node without
  a majority of the copies answers 503.

      {BeamMCP,
       name: MyApp.MCP,
       task_store: {BeamMCP.TaskStore.Mnesia, []},
       secrets: secrets, ..}

  Every node answers for every task, and what came of it outlives the node that computed it. Work is
  not begun anew elsewhere: a task whose node is gone is found `failed`.

  ## Options

  #{BeamMCP.Options.docs(:task_mnesia)}

  What is written is on all copies before anybody is told of it, so each message of a job's progress
  costs a round between the nodes. Bounds hold for all nodes together; of tasks that begin, or end, at
  the same moment, one for each node may go beyond `max_tasks` and `max_task_bytes`. Times are
  compared between nodes, so their clocks should agree within seconds.

  With `disc_copies: true` results survive a stop of all nodes. Work does not.
  """

  @behaviour BeamMCP.TaskStore
  @behaviour BeamMCP.Mnesia.Tables

  alias BeamMCP.{Mnesia, Options, TaskStore}
  alias BeamMCP.Mnesia.Tables

  # A row of `tasks` is `{table, id, task, expires_ms}`. One of `totals` is `{table, {:count, principal},
  # tasks}`, or `{table, {:bytes, node}, bytes}` of the tasks that a node began, so that nodes which
  # write at the same time do not wait for each other.
  @tasks [attributes: [:id, :task, :expires_ms], type: :set]
  @totals [attributes: [:key, :value], type: :ordered_set]

  @impl TaskStore
  def shared?, do: true

  @impl TaskStore
  def child_spec({namespace, options}) do
    {clock, options} = Keyword.pop(options, :clock, &Mnesia.wall_ms/0)
    settings = Options.validate!(:task_mnesia, options, "task_store.")
    refuse_nameless!(settings)

    store = %{
      tasks: Mnesia.table!("tasks", namespace),
      totals: Mnesia.table!("tasks_totals", namespace),
      settings: settings,
      clock: clock
    }

    Tables.child_spec({__MODULE__, namespace, store})
  end

  defp refuse_nameless!(settings) do
    if settings.disc_copies and node() == :nonode@nohost do
      raise ArgumentError,
            "option task_store.disc_copies: the node needs a name, or processes that an earlier start " <>
              "wrote down are taken for others of this one"
    end
  end

  @impl TaskStore
  def create(namespace, task) do
    written(namespace, task.id, fn store ->
      if room?(store, task) do
        count(store, task, 1)
        put(store, task)
      else
        {:error, :full}
      end
    end)
  end

  @impl TaskStore
  def fetch(namespace, id) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace),
         do: kept(store, Mnesia.read(store.tasks, id))
  end

  @impl TaskStore
  def update(namespace, id, change) do
    written(namespace, id, fn store ->
      with {:ok, before} <- kept(store, Mnesia.lock(store.tasks, id)),
           {:ok, task} <- change.(before),
           :ok <- weigh(store, before, task) do
        put(store, task)
        {:ok, task}
      end
    end)
  end

  @impl TaskStore
  def delete(namespace, id) do
    written(namespace, id, fn store ->
      with {:ok, task} <- kept(store, Mnesia.lock(store.tasks, id)), do: remove(store, task)
    end)
  end

  @impl TaskStore
  def count(namespace) do
    {:ok, store} = Tables.opened(__MODULE__, namespace)
    Mnesia.size(store.tasks)
  end

  @impl Tables
  def tables(store), do: [{store.tasks, @tasks}, {store.totals, @totals}]

  @impl Tables
  def sweep(store) do
    expired = {:"=<", :"$2", store.clock.()}
    ids = [{{store.tasks, :"$1", :_, :"$2"}, [expired], [:"$1"]}]
    Mnesia.sweep(store.tasks, ids, &remove_expired(store, &1))
  end

  defp written(namespace, id, change) do
    with {:ok, store} <- Tables.opened(__MODULE__, namespace) do
      written = Mnesia.transaction(fn -> change.(store) end)
      if written == :ok or match?({:ok, _task}, written), do: Mnesia.settle(store.tasks, id)
      written
    end
  end

  defp put(store, task),
    do: Mnesia.write({store.tasks, task.id, task, task.created_ms + task.ttl_ms})

  defp kept(_store, []), do: {:error, :unknown}

  defp kept(store, [{_table, _id, task, expires_ms}]),
    do: if(store.clock.() < expires_ms, do: {:ok, task}, else: {:error, :unknown})

  defp remove(store, task) do
    count(store, task, -1)
    Mnesia.delete(store.tasks, task.id)
  end

  # Another node may have removed it meanwhile.
  defp remove_expired(store, id) do
    with [{_table, ^id, task, _expires_ms}] <- Mnesia.lock(store.tasks, id),
         do: remove(store, task)
  end

  # Anonymous callers cannot be told apart, so only the totals bind them.
  defp room?(%{settings: settings} = store, task) do
    hold(store, task)

    Mnesia.size(store.tasks) < settings.max_tasks and
      bytes(store) + TaskStore.bytes(task) <= settings.max_task_bytes and
      (task.principal == nil or
         total(store, {:count, task.principal}) < settings.max_tasks_per_principal)
  end

  defp count(store, task, by) do
    add(store, {:bytes, node(task.keeper)}, by * TaskStore.bytes(task))
    if task.principal, do: add(store, {:count, task.principal}, by)
  end

  # What takes no more room than before is written also in a store that is full.
  defp weigh(store, before, task) do
    more = TaskStore.bytes(task) - TaskStore.bytes(before)
    if more > 0, do: hold(store, before)

    if more <= 0 or bytes(store) + more <= store.settings.max_task_bytes,
      do: add(store, {:bytes, node(before.keeper)}, more),
      else: {:error, :full}
  end

  # Tasks of one node change one after the other: each counts what the one before has written.
  defp hold(store, task), do: Mnesia.lock(store.totals, {:bytes, node(task.keeper)})

  defp add(_store, _key, 0), do: :ok

  defp add(store, key, more) do
    case total(store, key) + more do
      0 -> Mnesia.delete(store.totals, key)
      total -> Mnesia.write({store.totals, key, total})
    end
  end

  defp total(store, key) do
    case Mnesia.lock(store.totals, key) do
      [{_table, ^key, total}] -> total
      [] -> 0
    end
  end

  # Of all nodes, as this one has it.
  defp bytes(store) do
    store.totals |> Mnesia.select([{{:_, {:bytes, :_}, :"$1"}, [], [:"$1"]}]) |> Enum.sum()
  end
end
