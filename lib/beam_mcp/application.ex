defmodule BeamMCP.Application do
  @moduledoc false
  # Starts the Registry that names the processes of every instance, the scope in which those of
  # other nodes find them, and the owner of what is observed. Instances and collectors are the
  # host's.

  use Application

  alias BeamMCP.Connectome.Observed
  alias BeamMCP.Group

  @impl Application
  def start(_type, _args) do
    registry = %{id: Registry, type: :supervisor, start: {__MODULE__, :start_registry, []}}

    Supervisor.start_link([registry, Group.scope(), Observed.Tables],
      strategy: :one_for_one,
      max_restarts: 100,
      max_seconds: 5,
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
