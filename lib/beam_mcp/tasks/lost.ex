defmodule BeamMCP.Tasks.Lost do
  @moduledoc false
  # Finds tasks whose keeper, or whose node, is gone: they are failed when somebody asks for them.

  alias BeamMCP.{Changes, Instance, TaskStore}
  alias BeamMCP.Tasks.Keeper

  # How long another node may take to say whether it has a process.
  @patience_ms 1_000

  @doc "The task, or what it becomes if nobody works on it any more."
  @spec settle(Instance.t(), TaskStore.task()) :: {:ok, TaskStore.task()} | :unknown | :failed
  def settle(instance, task) do
    if TaskStore.ended?(task) or not lost?(task.keeper),
      do: {:ok, task},
      else: fail(instance, task)
  end

  # The keeper may have ended the task just now: that stands.
  defp fail(%{tasks: {store, namespace}} = instance, %{id: id}) do
    failed =
      store.update(namespace, id, fn task ->
        if TaskStore.ended?(task), do: {:error, :ended}, else: {:ok, failed(task)}
      end)

    case failed do
      {:ok, task} ->
        Changes.publish(instance, {:task, id})
        {:ok, task}

      {:error, :ended} ->
        with {:error, _unknown} <- store.fetch(namespace, id), do: :unknown

      {:error, :unavailable} ->
        :failed

      {:error, _unknown_or_full} ->
        :unknown
    end
  end

  defp failed(task) do
    %{Keeper.over(task, :failed, Keeper.lost()) | updated_ms: System.os_time(:millisecond)}
  end

  defp lost?(keeper) when node(keeper) == node() do
    not Process.alive?(keeper)
  rescue
    # It lived before this node was started again.
    ArgumentError -> true
  end

  defp lost?(keeper) do
    not :erpc.call(node(keeper), Process, :alive?, [keeper], @patience_ms)
  catch
    # The node is gone, or is another one of the same name.
    :error, {:erpc, :noconnection} -> true
    :error, {:exception, _reason, _stacktrace} -> true
    # One that is connected is slow; one that is not cannot be reached.
    :error, {:erpc, _timeout} -> node(keeper) not in Node.list(:connected)
  end
end
