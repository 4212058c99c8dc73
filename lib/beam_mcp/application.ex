defmodule BeamMCP.Application do
  @moduledoc false
  # Starts the Registry that names the processes of every instance, and the scope in which those of
  # other nodes find them. Instances are the host's.

  use Application

  alias BeamMCP.Changes

  @impl Application
  def start(_type, _args) do
    children = [{Registry, keys: :unique, name: BeamMCP.Registry}, Changes.scope()]
    Supervisor.start_link(children, strategy: :one_for_one, name: BeamMCP.Supervisor)
  end
end
