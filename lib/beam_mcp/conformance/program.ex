defmodule BeamMCP.Conformance.Program do
  @moduledoc false
  # Runs a program to its end or to a deadline, whichever comes first, and returns what it printed.

  @type ended :: {:exited, non_neg_integer()} | :killed

  @spec run(Path.t(), [String.t()], timeout()) :: {String.t(), ended()}
  def run(path, arguments, timeout_ms) do
    options = [:binary, :exit_status, :stderr_to_stdout, :hide, args: arguments]
    port = Port.open({:spawn_executable, path}, options)
    timer = Process.send_after(self(), {port, :deadline}, timeout_ms)
    {output, ended} = collect(port, [], :exited)
    Process.cancel_timer(timer)
    forget_deadline(port)
    {IO.iodata_to_binary(output), ended}
  end

  defp collect(port, output, ended) do
    receive do
      {^port, {:data, data}} -> collect(port, [output, data], ended)
      {^port, {:exit_status, _status}} when ended == :killed -> {output, :killed}
      {^port, {:exit_status, status}} -> {output, {:exited, status}}
      {^port, :deadline} -> collect(port, [output, kill(port)], :killed)
    end
  end

  # Closing a port would leave its program running.
  defp kill(port) do
    with {:os_pid, pid} <- Port.info(port, :os_pid) do
      System.cmd("kill", ["-KILL", to_string(pid)], stderr_to_stdout: true)
    end

    "\nKilled at its deadline.\n"
  end

  # It may have come between the end of the program and that of the timer.
  defp forget_deadline(port) do
    receive do
      {^port, :deadline} -> :ok
    after
      0 -> :ok
    end
  end
end
