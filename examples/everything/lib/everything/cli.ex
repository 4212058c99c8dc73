defmodule Everything.CLI do
  @moduledoc "What `bin/serve` runs."

  alias Everything.Banner

  @doc """
  `http PORT COMMAND` serves HTTP until the VM is stopped; `stdio` serves one client and halts.

  COMMAND is what a client's configuration runs for stdio; the banner shows it.
  """
  @spec main([String.t()]) :: no_return()
  def main(["http", port, command]) do
    start_application()
    child = Everything.http(String.to_integer(port))

    case Supervisor.start_child(Everything.Supervisor, child) do
      {:ok, _pid} ->
        [listener] = BeamMCP.info!().listeners
        IO.puts(Banner.text(BeamMCP.Listener.url(listener), command))
        Process.sleep(:infinity)

      {:error, {error, _child}} ->
        fail(error)
    end
  end

  def main(["stdio"]) do
    start_application()

    case Everything.stdio() do
      :ok -> System.halt(0)
      {:error, error} -> fail(error)
    end
  end

  defp start_application, do: {:ok, _started} = Application.ensure_all_started(:everything)

  defp fail(%BeamMCP.Error{} = error) do
    IO.puts(:stderr, Exception.message(error) <> hint(error))
    System.halt(1)
  end

  defp hint(%{kind: :listen}), do: ": `bin/serve --port PORT`"
  defp hint(_error), do: ""
end
