defmodule BeamMCP.Tasks.Keeper do
  @moduledoc false
  # Keeps one task while its work goes on: the only one to write it into the store, and the one who
  # speaks for it. It ends with the work, and the work with it.
  #
  # What the work asks its client waits here until `tasks/update` has brought all answers, and what the
  # store cannot take, until it can: a node without a majority must not lose what its jobs came to.

  use GenServer, restart: :temporary

  alias BeamMCP.{Call, Changes, Fault, Identity, Instance, Native, TaskStore}
  alias BeamMCP.Tasks.{Begun, Handle, Keepers}

  @enforce_keys [:name, :handle, :worker, :grace_ms]
  defstruct @enforce_keys ++ [asking: nil, unwritten: nil]

  # What is shown of a text for people.
  @max_message_bytes 1_024

  # Between two attempts to write.
  @again_ms 500

  @doc "Begins a task whose work the calling process does; it is in the store when this returns."
  @spec start(Instance.t(), Begun.t()) ::
          {:ok, Handle.t(), TaskStore.task()} | {:error, term()}
  def start(instance, begun) do
    task = task(instance.config, begun)
    handle = %Handle{id: task.id, keeper: nil, job: begun.job, ended: :atomics.new(1, [])}
    argument = {instance.name, task, handle, self()}

    with {:ok, keeper} <- Keepers.start(instance, {__MODULE__, argument}) do
      {:ok, %{handle | keeper: keeper}, %{task | keeper: keeper}}
    end
  end

  @doc "The task is of no use to anybody: its client never heard of it."
  @spec abandon(Handle.t()) :: :ok
  def abandon(handle), do: GenServer.call(handle.keeper, :abandon)

  @doc "Asks the client, for the work of the task; answers as `BeamMCP.Native.ask/4`."
  @spec ask(Handle.t(), [Native.input_question()], boolean()) ::
          {:answers, [Native.input_answer()]} | :gone | :foreign | {:error, Native.reason()}
  def ask(handle, questions, optional?) do
    GenServer.call(handle.keeper, {:ask, questions, optional?}, :infinity)
  catch
    :exit, _ended -> :gone
  end

  @doc "Tells people how far the task is."
  @spec tell(Handle.t(), String.t()) :: :ok
  def tell(handle, message) do
    GenServer.call(handle.keeper, {:tell, message})
  catch
    :exit, _ended -> :ok
  end

  @doc "The work is done."
  @spec finish(Handle.t(), :completed | :failed, binary()) :: :ok
  def finish(handle, status, detail) do
    GenServer.call(handle.keeper, {:finish, status, detail})
  catch
    :exit, _ended -> :ok
  end

  @doc "Ends a task; one that is over stays as it is."
  @spec cancel(TaskStore.task()) :: :done
  def cancel(task), do: request(task, :cancel)

  @doc "Takes responses to what the task asked (TASK-10)."
  @spec hear(TaskStore.task(), [{String.t(), binary()}]) :: :done
  def hear(task, responses), do: request(task, {:hear, responses})

  # The keeper may be on another node, and ends with its task.
  defp request(%{keeper: keeper}, request) do
    GenServer.call(keeper, request)
  catch
    :exit, _ended -> :done
  end

  @doc false
  @spec start_link(tuple()) :: GenServer.on_start()
  def start_link(argument), do: GenServer.start_link(__MODULE__, argument)

  @impl GenServer
  def init({name, task, handle, worker}) do
    Process.flag(:trap_exit, true)
    %{config: config, tasks: {store, namespace}} = Instance.fetch!(name)

    case create(store, namespace, %{task | keeper: self()}) do
      :ok ->
        Process.link(worker)
        Process.send_after(self(), :expire, task.ttl_ms)
        handle = %{handle | keeper: self()}

        {:ok,
         %__MODULE__{name: name, handle: handle, worker: worker, grace_ms: config.cancel_grace_ms}}

      {:error, reason} ->
        {:stop, {:shutdown, reason}}
    end
  end

  defp create(store, namespace, task) do
    store.create(namespace, task)
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, inspect(store))
      {:error, :failed}
  end

  defp task(config, begun) do
    now_ms = System.os_time(:millisecond)

    %{
      id: TaskStore.new_id(),
      principal: Identity.principal(begun.context.binding_key),
      status: :working,
      status_message: nil,
      created_ms: now_ms,
      updated_ms: now_ms,
      ttl_ms: config.task_ttl_ms,
      poll_interval_ms: config.task_poll_interval_ms,
      detail: nil,
      request_bytes: begun.bytes,
      keeper: nil
    }
  end

  @impl GenServer
  def handle_call({:ask, questions, optional?}, {worker, _tag} = from, %{worker: worker} = state) do
    if Handle.ended?(state.handle),
      do: {:reply, :gone, state},
      else: asked(Native.job_ask(state.handle.job, questions, optional?), from, state)
  end

  def handle_call({:ask, _questions, _optional?}, _from, state), do: {:reply, :foreign, state}

  def handle_call({:hear, responses}, _from, %{asking: asking} = state) when asking != nil do
    {asked, bytes} = Native.job_hear(state.handle.job, responses)
    {:reply, :done, heard(asked, bytes, state)}
  end

  def handle_call({:hear, _responses}, _from, state), do: {:reply, :done, state}

  def handle_call({:tell, message}, _from, state) do
    {_outcome, state} = write(state, &%{&1 | status_message: shortened(message)})
    {:reply, :ok, state}
  end

  def handle_call({:finish, status, detail}, _from, state) do
    {:reply, :ok, ended(state, status, detail)}
  end

  def handle_call(:cancel, _from, state) do
    {:reply, :done, state |> ended(:cancelled, nil) |> stop_work()}
  end

  def handle_call(:abandon, _from, state) do
    Handle.end!(state.handle)
    {store, namespace} = store(state)
    store.delete(namespace, state.handle.id)
    {:stop, :normal, :ok, state}
  end

  @impl GenServer
  # What is not written by now, nobody could ask for any more.
  def handle_info(:expire, state) do
    state = state |> ended(:cancelled, nil) |> stop_work()
    rest(%{state | unwritten: nil})
  end

  def handle_info(:again, %{unwritten: change} = state) when change != nil do
    case write(%{state | unwritten: nil}, change) do
      {:full, state} -> state |> refused() |> rest()
      {_written_or_later, state} -> rest(state)
    end
  end

  # The work has ended; a killed one has not said how.
  def handle_info({:EXIT, worker, _reason}, %{worker: worker} = state) do
    if Handle.ended?(state.handle) do
      rest(%{state | worker: nil})
    else
      {:completed, json, _fault} = Native.job_end(state.handle.job, :failed)

      Fault.log_text(
        "the process that did the work of a task ended without an answer: it was killed, or a process linked to it ended"
      )

      %{state | worker: nil} |> ended(:completed, json) |> rest()
    end
  end

  def handle_info(_other, state), do: {:noreply, state}

  # The instance stops: whoever finds the task later, in a store that outlives this node, is to know.
  @impl GenServer
  def terminate(_reason, state) do
    if state.unwritten, do: write(%{state | unwritten: nil}, state.unwritten)
    ended(state, :failed, lost())
    if state.worker, do: Process.exit(state.worker, :kill)
  end

  # Without work, and with nothing left to write, it is of no use.
  defp rest(%{worker: nil, unwritten: nil} = state), do: {:stop, :normal, state}
  defp rest(state), do: {:noreply, state}

  @doc "The error of a task that nobody works on any more, as a JSON text."
  @spec lost() :: binary()
  def lost, do: failure(-32_603, "The task was lost: call the tool again")

  defp asked({:answers, _answers} = answers, _from, state), do: {:reply, answers, state}
  defp asked({:error, _reason} = error, _from, state), do: {:reply, error, state}

  defp asked({:open, requests}, from, state) do
    case write(state, &%{&1 | status: :input_required, detail: requests}) do
      {:full, state} -> {:reply, :gone, refused(state)}
      {_written_or_later, state} -> {:noreply, %{state | asking: from}}
    end
  end

  # The client lacks what the work cannot go on without.
  defp asked({:lacks, error}, _from, state), do: {:reply, :gone, ended(state, :failed, error)}

  defp heard({:answers, _answers} = answers, bytes, state) do
    with {:ok, state} <- hold(state, bytes, %{status: :working, detail: nil}) do
      GenServer.reply(state.asking, answers)
      %{state | asking: nil}
    end
  end

  defp heard({:open, requests}, bytes, state) do
    with {:ok, state} <- hold(state, bytes, %{detail: requests}), do: state
  end

  # An answer counts from when it comes, also while others are missing; without room for it the task
  # is over.
  defp hold(state, bytes, fields) do
    change = fn task ->
      task |> Map.merge(fields) |> Map.update!(:request_bytes, &(&1 + bytes))
    end

    case write(state, change) do
      {:full, state} -> refused(state)
      {_written_or_later, state} -> {:ok, state}
    end
  end

  # A task that is over never changes again (TASK-7).
  defp ended(state, status, detail) do
    if Handle.ended?(state.handle) do
      state
    else
      state = write_end(state, status, detail)
      Handle.end!(state.handle)
      if state.asking, do: GenServer.reply(state.asking, :gone)
      %{state | asking: nil}
    end
  end

  defp write_end(state, status, detail) do
    case write(state, &over(&1, status, detail)) do
      {:full, state} -> refused_end(state)
      {_written_or_later, state} -> state
    end
  end

  defp refused_end(state) do
    {_outcome, state} = write(state, &over(&1, :failed, full()))
    state
  end

  # There is no room for what the task has become.
  defp refused(state) do
    if Handle.ended?(state.handle),
      do: refused_end(state),
      else: ended(state, :failed, full())
  end

  @doc "What a task is when it is over. One that failed says so to people too."
  @spec over(TaskStore.task(), TaskStore.status(), binary() | nil) :: TaskStore.task()
  def over(task, :failed, detail) do
    {:ok, %{"message" => message}} = Native.decode(detail)
    put_end(%{task | status_message: shortened(message)}, :failed, detail)
  end

  def over(task, status, detail), do: put_end(task, status, detail)

  defp put_end(task, status, detail),
    do: %{task | status: status, detail: detail, request_bytes: 0}

  defp stop_work(%{worker: nil} = state), do: state

  defp stop_work(state) do
    {:ok, _timer} = :timer.kill_after(state.grace_ms, state.worker)
    Call.tell_cancelled(state.name, {:task, state.handle.id}, state.worker)
    state
  end

  # What could not be written yet comes first.
  defp write(%{unwritten: nil} = state, change) do
    case written(state, change) do
      {:error, :unavailable} ->
        Process.send_after(self(), :again, @again_ms)
        {:later, %{state | unwritten: change}}

      {:error, :full} ->
        {:full, state}

      _written_or_over ->
        {:written, state}
    end
  end

  defp write(%{unwritten: before} = state, change),
    do: {:later, %{state | unwritten: &(&1 |> before.() |> change.())}}

  # Nobody else writes the task while its keeper lives, but one who took it for lost.
  defp written(state, change) do
    {store, namespace} = store(state)
    now_ms = System.os_time(:millisecond)

    written =
      store.update(namespace, state.handle.id, fn task ->
        with false <- TaskStore.ended?(task), changed when changed != task <- change.(task) do
          {:ok, %{changed | updated_ms: now_ms}}
        else
          _over_or_same -> {:error, :ended}
        end
      end)

    with {:ok, _task} <- written, do: Changes.publish(instance(state), {:task, state.handle.id})
    written
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, "the store of a task")
      {:error, :failed}
  end

  defp full,
    do: failure(-31_503, "The server has no room for what the task came to: call again later")

  defp failure(code, message) do
    {:ok, json} = Native.encode(%{code: code, message: message})
    json
  end

  defp shortened(message) when byte_size(message) <= @max_message_bytes, do: message

  defp shortened(message) do
    message |> binary_part(0, @max_message_bytes) |> String.chunk(:valid) |> hd()
  end

  defp store(state), do: instance(state).tasks
  defp instance(state), do: Instance.fetch!(state.name)
end
