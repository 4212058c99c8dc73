defmodule Protected.Notes do
  @moduledoc "The last notes of each user, in memory."

  use Agent

  # Of one user.
  @max_notes 100

  @doc false
  @spec start_link(term()) :: Agent.on_start()
  def start_link(_argument), do: Agent.start_link(fn -> %{} end, name: __MODULE__)

  @doc "The notes of a user, the oldest first."
  @spec read(String.t()) :: [String.t()]
  def read(user), do: Agent.get(__MODULE__, &Enum.reverse(Map.get(&1, user, [])))

  @doc "Adds one, and forgets the oldest where there are too many."
  @spec write(String.t(), String.t()) :: :ok
  def write(user, text) do
    Agent.update(__MODULE__, fn notes ->
      Map.update(notes, user, [text], &Enum.take([text | &1], @max_notes))
    end)
  end

  @doc "Forgets the notes of everybody."
  @spec erase() :: :ok
  def erase, do: Agent.update(__MODULE__, fn _notes -> %{} end)
end
