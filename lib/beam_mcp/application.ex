defmodule BeamMCP.Application do
  @moduledoc false
  # Starts the Registry that names the processes of every instance, and the scope in which those of
  # other nodes find them. Instances are the host's.

  use Application

  alias BeamMCP.Group

  @impl Application
  def start(_type, _args) do
    registry = %{id: Registry, type: :supervisor, start: {__MODULE__, :start_registry, []}}

    Supervisor.start_link([registry, Group.scope()],
      strategy: :one_for_one,
      name: BeamMCP.Supervisor
    )
  end

  @doc "Starts the Registry; when one was killed, its names and tables are free a little later."
  @spec start_registry(non_neg_integer()) :: {:ok, pid()} | {:error, term()}
  def start_registry(tries \\ 100) do
    case Registry.start_link(keys: :unique, name: BeamMCP.Registry) do
      {:error, _taken} when tries > 0 ->
        Process.sleep(10)
        start_registry(tries - 1)

      started ->
        started
    end
  end
end
