defmodule BeamMCP.Tasks.Keepers do
  @moduledoc false
  # Supervises the keepers of an instance, one for each task that is worked on.
  #
  # A supervisor cannot register itself again when the Registry was killed, so this one is found through
  # a table of the instance.

  use DynamicSupervisor

  alias BeamMCP.Instance

  # Between two looks at whether work has ended.
  @look_ms 50

  @spec start_link(Instance.name()) :: Supervisor.on_start()
  def start_link(name), do: DynamicSupervisor.start_link(__MODULE__, name)

  @doc "Starts a keeper."
  @spec start(Instance.t(), {module(), term()}) :: DynamicSupervisor.on_start_child()
  def start(instance, keeper), do: DynamicSupervisor.start_child(own(instance), keeper)

  @doc "How many tasks are worked on, or have an end that is not written yet."
  @spec count(Instance.t()) :: non_neg_integer()
  def count(instance) do
    DynamicSupervisor.count_children(own(instance)).active
  rescue
    # The instance stops.
    ArgumentError -> 0
  catch
    :exit, _gone -> 0
  end

  @doc "Waits until none is, or until the deadline in monotonic time."
  @spec await(Instance.t(), integer()) :: :ok
  def await(instance, deadline_ms) do
    if count(instance) > 0 and System.monotonic_time(:millisecond) < deadline_ms do
      Process.sleep(@look_ms)
      await(instance, deadline_ms)
    else
      :ok
    end
  end

  @impl DynamicSupervisor
  def init(name) do
    true = :ets.insert(Instance.fetch!(name).supervisors, {__MODULE__, self()})
    DynamicSupervisor.init(strategy: :one_for_one)
  end

  defp own(instance), do: :ets.lookup_element(instance.supervisors, __MODULE__, 2)
end
