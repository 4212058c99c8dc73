defmodule Everything.Application do
  @moduledoc "The supervisor under which `Everything.CLI` starts the HTTP server."

  use Application

  @impl true
  def start(_type, _args) do
    Supervisor.start_link([], strategy: :one_for_one, name: Everything.Supervisor)
  end
end
