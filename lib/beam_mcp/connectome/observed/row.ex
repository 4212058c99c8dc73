defmodule BeamMCP.Connectome.Observed.Row do
  @moduledoc false
  # What was counted of one edge: four integers that every process adds to without waiting for any
  # other. A run counts when it begins, so that one which is killed has been seen too; what it took
  # counts when it ends, by the system's own counter, which costs less than the VM's clock.

  @began 1
  @ended 2
  @sum 3
  @max 4

  @type t :: :atomics.atomics_ref()

  @type counted :: %{
          count: non_neg_integer(),
          ended: non_neg_integer(),
          sum: non_neg_integer(),
          max: non_neg_integer()
        }

  @spec new() :: t()
  def new, do: :atomics.new(4, signed: true)

  @doc "When a run begins, in the unit of `ended/2`."
  @spec now() :: integer()
  def now, do: :os.perf_counter()

  @spec began(t()) :: :ok
  def began(row), do: :atomics.add(row, @began, 1)

  @doc "A run took `duration`, a difference of `now/0`."
  @spec ended(t(), non_neg_integer()) :: :ok
  def ended(row, duration) do
    :atomics.add(row, @ended, 1)
    :atomics.add(row, @sum, duration)
    raise_max(row, :atomics.get(row, @max), duration)
  end

  @doc "A run began and took `duration`, in native units."
  @spec used(t(), non_neg_integer()) :: :ok
  def used(row, duration) do
    began(row)
    ended(row, :erlang.convert_time_unit(duration, :native, :perf_counter))
  end

  @doc "What was counted, durations in native units."
  @spec read(t()) :: counted()
  def read(row) do
    [ended, count, sum, max] = Enum.map([@ended, @began, @sum, @max], &:atomics.get(row, &1))
    %{count: count, ended: ended, sum: native(sum), max: native(max)}
  end

  defp native(duration), do: :erlang.convert_time_unit(duration, :perf_counter, :native)

  defp raise_max(row, max, duration) when duration > max do
    case :atomics.compare_exchange(row, @max, max, duration) do
      :ok -> :ok
      higher -> raise_max(row, higher, duration)
    end
  end

  defp raise_max(_row, _max, _duration), do: :ok
end
