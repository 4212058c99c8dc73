defmodule BeamMCP.Test.SharedTaskStore do
  @moduledoc """
  A task store that several nodes share: tasks live on one of them.

  Option `:home`, the node, which runs a `BeamMCP.TaskStore.ETS` of the same namespace.
  """

  @behaviour BeamMCP.TaskStore

  alias BeamMCP.TaskStore.ETS

  @impl true
  def shared?, do: true

  @impl true
  def child_spec({namespace, home: home}),
    do: %{id: __MODULE__, start: {__MODULE__, :start_link, [namespace, home]}}

  @doc false
  def start_link(namespace, home) do
    :persistent_term.put({__MODULE__, namespace}, home)
    Agent.start_link(fn -> home end)
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
    home = :persistent_term.get({__MODULE__, namespace})
    :erpc.call(home, ETS, function, [namespace | arguments])
  end
end
