defmodule Protected.Application do
  @moduledoc "The supervisor of the notes, under which `Protected.CLI` starts the issuer and the server."

  use Application

  @impl true
  def start(_type, _args) do
    Supervisor.start_link([Protected.Notes], strategy: :one_for_one, name: Protected.Supervisor)
  end
end
