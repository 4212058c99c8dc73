defmodule ReleaseApp.Chatter do
  @moduledoc "Prints in every way an application can: through the logger, an IO device, the VM and a child program."

  use GenServer

  require Logger

  @doc "Starts it; `start_link/1` returns when everything is printed."
  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, [])

  @doc "Prints `text` in every way."
  @spec print(String.t()) :: :ok
  def print(text) do
    Logger.error("#{text}: logger")
    IO.puts("#{text}: IO.puts")
    :io.format(:user, "~ts: user~n", [text])
    :erlang.display({text, :display})
    print_from_child(text)
  end

  @impl true
  def init(_options) do
    print("at boot")
    {:ok, []}
  end

  # A child program that keeps the VM's own descriptors.
  defp print_from_child(text) do
    options = [:nouse_stdio, :exit_status, args: ["-c", "echo \"$0: child program\"", text]]
    port = Port.open({:spawn_executable, "/bin/sh"}, options)

    receive do
      {^port, {:exit_status, _status}} -> :ok
    after
      5_000 -> :ok
    end
  end
end
