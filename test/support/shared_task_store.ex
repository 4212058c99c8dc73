defmodule BeamMCP.Test.SharedTaskStore do
  @moduledoc """
  A task store that several nodes share: tasks live on one of them.

  Options: `:home`, the node, and `:kept`, the namespace of a `BeamMCP.TaskStore.ETS` there.
  """

  @behaviour BeamMCP.TaskStore

  alias BeamMCP.TaskStore.ETS

  @impl true
  def child_spec({namespace, options}),
    do: %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, Map.new(options)]}}

  @doc false
  def start_link(namespace, options) do
    :persistent_term.put({__MODULE__, namespace}, options)
    Agent.start_link(fn -> options end)
  end

  @impl true
  def create(namespace, task), do: there(namespace, :create, [task])

  @impl true
  def fetch(namespace, id), do: there(namespace, :fetch, [id])

  @impl true
  def update(namespace, id, change), do: there(namespace, :update, [id, change])

  @impl true
  def delete(namespace, id), do: there(namespace, :delete, [id])

  @impl true
  def count(namespace), do: there(namespace, :count, [])

  defp there(namespace, function, arguments) do
    %{home: home, kept: kept} = :persistent_term.get({__MODULE__, namespace})
    :erpc.call(home, ETS, function, [kept | arguments])
  end
end
