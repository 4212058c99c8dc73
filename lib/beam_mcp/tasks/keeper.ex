defmodule BeamMCP.Tasks.Keeper do
  @moduledoc false
  # Keeps one task while its work goes on: the only one to write it into the store, and the one who
  # speaks for it. It ends with the work, and the work with it.
  #
  # What the work asks its client waits here until `tasks/update` has brought all answers.

  use GenServer, restart: :temporary

  alias BeamMCP.{Call, Changes, Fault, Identity, Instance, Native, TaskStore}
  alias BeamMCP.Tasks.{Begun, Handle}

  @enforce_keys [:name, :handle, :worker, :grace_ms]
  defstruct @enforce_keys ++ [asking: nil]

  # What is shown of a text for people.
  @max_message_bytes 1_024

  @doc "The supervisor of an instance's keepers."
  @spec supervisor(Instance.name()) :: Supervisor.child_spec()
  def supervisor(name) do
    options = [strategy: :one_for_one, name: Instance.via(name, __MODULE__)]
    %{id: __MODULE__, type: :supervisor, start: {DynamicSupervisor, :start_link, [options]}}
  end

  @doc "How many tasks are worked on."
  @spec count(Instance.name()) :: non_neg_integer()
  def count(name) do
    DynamicSupervisor.count_children(Instance.via(name, __MODULE__)).active
  catch
    # The instance stops.
    :exit, _gone -> 0
  end

  @doc "Begins a task whose work the calling process does; it is in the store when this returns."
  @spec start(Instance.t(), Begun.t()) ::
          {:ok, Handle.t(), TaskStore.task()} | {:error, term()}
  def start(instance, begun) do
    supervisor = Instance.via(instance.name, __MODULE__)
    task = task(instance.config, begun)
    handle = %Handle{id: task.id, keeper: nil, job: begun.job, ended: :atomics.new(1, [])}
    argument = {instance.name, task, handle, self()}

    with {:ok, keeper} <- DynamicSupervisor.start_child(supervisor, {__MODULE__, argument}) do
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
    {:reply, :done, heard(Native.job_hear(state.handle.job, responses), state)}
  end

  def handle_call({:hear, _responses}, _from, state), do: {:reply, :done, state}

  def handle_call({:tell, message}, _from, state) do
    write(state, &Map.put(&1, :status_message, shortened(message)))
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
  def handle_info(:expire, state) do
    {:noreply, state |> ended(:cancelled, nil) |> stop_work()}
  end

  # The work has ended; a killed one has not said how.
  def handle_info({:EXIT, worker, _reason}, %{worker: worker} = state) do
    unless Handle.ended?(state.handle) do
      {:completed, json, _fault} = Native.job_end(state.handle.job, :failed)

      Fault.log_text(
        "the process that did the work of a task ended without an answer: it was killed, or a process linked to it ended"
      )

      ended(state, :completed, json)
    end

    {:stop, :normal, state}
  end

  def handle_info(_other, state), do: {:noreply, state}

  # The instance stops: whoever finds the task later, in a store that outlives this node, is to know.
  @impl GenServer
  def terminate(_reason, state) do
    ended(state, :failed, lost())
    Process.exit(state.worker, :kill)
  end

  @doc "The error of a task that nobody works on any more, as a JSON text."
  @spec lost() :: binary()
  def lost, do: failure(-32_603, "The task was lost: call the tool again")

  defp asked({:answers, _answers} = answers, _from, state), do: {:reply, answers, state}
  defp asked({:error, _reason} = error, _from, state), do: {:reply, error, state}

  defp asked({:open, requests}, from, state) do
    case write(state, &%{&1 | status: :input_required, detail: requests}) do
      {:error, :full} -> {:reply, :gone, ended(state, :failed, full())}
      _written_or_ended -> {:noreply, %{state | asking: from}}
    end
  end

  # The client lacks what the work cannot go on without.
  defp asked({:lacks, error}, _from, state), do: {:reply, :gone, ended(state, :failed, error)}

  defp heard({:answers, given} = answers, state) do
    bytes = Enum.sum(for {:result, json} <- given, do: byte_size(json))
    change = &%{&1 | status: :working, detail: nil, request_bytes: &1.request_bytes + bytes}

    case write(state, change) do
      {:error, :full} ->
        ended(state, :failed, full())

      _written_or_ended ->
        GenServer.reply(state.asking, answers)
        %{state | asking: nil}
    end
  end

  defp heard({:open, requests}, state) do
    write(state, fn
      %{detail: ^requests} -> {:error, :ended}
      task -> %{task | detail: requests}
    end)

    state
  end

  # A task that is over never changes again (TASK-7).
  defp ended(state, status, detail) do
    if not Handle.ended?(state.handle) do
      with {:error, :full} <- write(state, &over(&1, status, detail)),
           do: write(state, &over(&1, :failed, full()))

      Handle.end!(state.handle)
      if state.asking, do: GenServer.reply(state.asking, :gone)
    end

    %{state | asking: nil}
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

  defp stop_work(state) do
    {:ok, _timer} = :timer.kill_after(state.grace_ms, state.worker)
    Call.tell_cancelled(state.name, {:task, state.handle.id}, state.worker)
    state
  end

  # Nobody else writes the task while its keeper lives, but one who took it for lost.
  defp write(state, change) do
    {store, namespace} = store(state)
    now_ms = System.os_time(:millisecond)

    written =
      store.update(namespace, state.handle.id, fn task ->
        with false <- TaskStore.ended?(task), %{} = task <- change.(task) do
          {:ok, %{task | updated_ms: now_ms}}
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
