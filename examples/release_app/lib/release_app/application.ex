defmodule ReleaseApp.Application do
  @moduledoc """
  Starts whatever the application needs besides MCP.

  Here that is a worker which prints, as libraries do, so that the tests can show that none of it
  reaches the client.
  """

  use Application

  @impl true
  def start(_type, _args) do
    Supervisor.start_link([ReleaseApp.Chatter], strategy: :one_for_one, name: __MODULE__)
  end
end
