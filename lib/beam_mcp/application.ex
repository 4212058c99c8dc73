defmodule BeamMCP.Application do
  @moduledoc false
  # Starts the Registry that names the processes of every instance. Instances are the host's.

  use Application

  @impl Application
  def start(_type, _args) do
    Supervisor.start_link([{Registry, keys: :unique, name: BeamMCP.Registry}],
      strategy: :one_for_one,
      name: BeamMCP.Supervisor
    )
  end
end
