defmodule BeamMCP.Tasks do
  @moduledoc false
  # Calls that go on as tasks, and what clients want of those (MCP extension
  # `io.modelcontextprotocol/tasks`).
  #
  # The process of the call that began a task runs its work: nothing is copied. A keeper, supervised
  # by the instance, writes every change of the task into the store and speaks for it while it lasts.

  alias BeamMCP.{Asking, Context, Fault, Identity, Instance, Kind, Native, TaskStore}
  alias BeamMCP.Tasks.{Begun, Keeper, Lost, Work}

  @typedoc "The native library's questions."
  @type question ::
          {:get | :cancel, TaskStore.id(), caller :: binary() | nil}
          | {:update, TaskStore.id(), caller :: binary() | nil, [{String.t(), binary()}]}
          | {:own, [TaskStore.id()], caller :: binary() | nil}

  @typedoc "What is answered."
  @type answer :: {:found, map()} | {:own, [TaskStore.id()]} | :done | :unknown | :failed

  @doc """
  What a tool's handler returned, where it is no task: for a client that takes none, the work is done
  at once.
  """
  @spec settle(term(), Instance.t(), Native.token(), Context.t()) :: term() | Begun.t()
  def settle({:task, run}, instance, token, context) when is_function(run, 1) do
    case Native.new_job(instance.native, token) do
      {:ok, job, bytes} -> %Begun{job: job, bytes: bytes, run: run, context: context}
      :inline -> run.(context)
      :gone -> Asking.end_run()
      :forbidden -> raise ArgumentError, "{:task, fun} needs a tool that says `task_support`"
    end
  end

  def settle({:task, other}, _instance, _token, _context) do
    raise ArgumentError,
          "expected {:task, fun} with a function of one argument, the context, got #{Kind.of(other)}"
  end

  def settle(value, _instance, _token, _context), do: value

  @doc "Answers the call with its task, and does the work in the calling process."
  @spec go_on(Instance.t(), Native.token(), Begun.t(), tuple()) :: :ok
  def go_on(instance, token, begun, offer) do
    case Keeper.start(instance, begun) do
      {:ok, handle, task} ->
        # The client has to be able to find it as soon as it knows of it (TASK-5).
        case Native.reply(token, {:task, wire(task)}) do
          :ok -> Work.run(instance, handle, begun, offer)
          _late -> Keeper.abandon(handle)
        end

      {:error, {:shutdown, :full}} ->
        reply(token, :tasks_full)

      {:error, {:shutdown, :unavailable}} ->
        reply(token, :tasks_unavailable)

      {:error, {:shutdown, :failed}} ->
        reply(token, :failed)
    end
  end

  @doc "What becomes of a client's question."
  @spec answer(Instance.t(), question()) :: answer()
  def answer(%{tasks: {store, _namespace}} = instance, question) do
    ask(instance, question)
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, inspect(store))
      :failed
  end

  @doc "How many tasks are kept; `nil` when the store does not say."
  @spec count(Instance.t()) :: non_neg_integer() | nil
  def count(%{tasks: {store, namespace}}) do
    store.count(namespace)
  rescue
    _any -> nil
  catch
    :exit, _reason -> nil
  end

  @doc "A task as the native library writes it."
  @spec wire(TaskStore.task()) :: map()
  def wire(task) do
    task
    |> Map.take([:id, :status, :status_message, :ttl_ms, :poll_interval_ms, :detail])
    |> Map.merge(%{created_at: date(task.created_ms), updated_at: date(task.updated_ms)})
  end

  defp ask(instance, {:get, id, caller}) do
    with {:ok, task} <- own(instance, id, caller), do: {:found, wire(task)}
  end

  defp ask(instance, {:cancel, id, caller}) do
    with {:ok, task} <- own(instance, id, caller), do: Keeper.cancel(task)
  end

  defp ask(instance, {:update, id, caller, responses}) do
    with {:ok, task} <- own(instance, id, caller), do: Keeper.hear(task, responses)
  end

  defp ask(instance, {:own, ids, caller}) do
    {:own, Enum.filter(ids, &match?({:ok, _task}, own(instance, &1, caller)))}
  end

  defp own(%{tasks: {store, namespace}} = instance, id, caller) do
    principal = Identity.principal(caller)

    case store.fetch(namespace, id) do
      {:ok, %{principal: ^principal} = task} -> Lost.settle(instance, task)
      {:ok, _another_callers} -> :unknown
      {:error, :unknown} -> :unknown
      {:error, :unavailable} -> :failed
    end
  end

  defp date(ms), do: ms |> DateTime.from_unix!(:millisecond) |> DateTime.to_iso8601()

  # Both can always be sent; late is no fault.
  defp reply(token, answer) do
    Native.reply(token, answer)
    :ok
  end
end
