defmodule BeamMCP.Test.StdioClient do
  @moduledoc false
  # A client at the other end of a program's standard streams. A port alone cannot close the program's input and go
  # on reading its output, so the input comes through a FIFO that `cat` fills.

  alias BeamMCP.Test.Json

  defstruct [:output, :input, :os_pid, :stderr]

  @doc "Runs `command` (a list) with these environment variables; the calling process receives what it writes."
  def start(command, env \\ []) do
    dir = Path.join(System.tmp_dir!(), "beam_mcp_stdio_#{System.pid()}_#{unique()}")
    File.mkdir_p!(dir)
    fifo = Path.join(dir, "stdin")
    {_, 0} = System.cmd("mkfifo", [fifo])
    stderr = Path.join(dir, "stderr")
    ExUnit.Callbacks.on_exit(fn -> File.rm_rf!(dir) end)

    run = ~S(fifo=$1 stderr=$2; shift 2; exec "$@" <"$fifo" 2>"$stderr")
    output = open(["-c", run, "sh", fifo, stderr | command], [:exit_status, {:line, 65_536}], env)
    input = open(["-c", ~S(exec cat >"$0"), fifo], [:out], [])
    {:os_pid, os_pid} = Port.info(output, :os_pid)
    %__MODULE__{output: output, input: input, os_pid: os_pid, stderr: stderr}
  end

  @doc "Writes bytes as they are."
  def write(client, bytes), do: Port.command(client.input, bytes)

  @doc "Writes one line."
  def send_line(client, line), do: write(client, [line, ?\n])

  @doc "The next message."
  def receive_message(client, timeout \\ 10_000) do
    Json.decode!(receive_line(client, timeout, []))
  end

  @doc "The next `count` messages, by id."
  def receive_by_id(client, count) do
    Map.new(1..count, fn _ ->
      message = receive_message(client)
      {message["id"], message}
    end)
  end

  @doc "Whether nothing comes for so many milliseconds."
  def silent?(%{output: output}, milliseconds) do
    receive do
      {^output, {:data, _data}} -> false
    after
      milliseconds -> true
    end
  end

  @doc "Closes the program's input."
  def close_input(client), do: Port.close(client.input)

  @doc "Sends the program SIGTERM."
  def terminate(client), do: {_, 0} = System.cmd("kill", ["-TERM", "#{client.os_pid}"])

  @doc "The messages still to come and the exit status."
  def await_exit(%{output: output} = client, timeout \\ 10_000, messages \\ []) do
    receive do
      {^output, {:data, {:eol, line}}} ->
        await_exit(client, timeout, [Json.decode!(line) | messages])

      {^output, {:exit_status, status}} ->
        {Enum.reverse(messages), status}
    after
      timeout -> raise "the program did not end; it said: #{stderr(client)}"
    end
  end

  @doc "What the program wrote to standard error so far."
  def stderr(client), do: File.read!(client.stderr)

  defp receive_line(%{output: output} = client, timeout, parts) do
    receive do
      {^output, {:data, {:noeol, part}}} -> receive_line(client, timeout, [parts, part])
      {^output, {:data, {:eol, part}}} -> IO.iodata_to_binary([parts, part])
      {^output, {:exit_status, status}} -> raise "exit #{status}; it said: #{stderr(client)}"
    after
      timeout -> raise "no message in #{timeout} ms; it said: #{stderr(client)}"
    end
  end

  defp open(args, options, env) do
    env = for {name, value} <- env, do: {to_charlist(name), to_charlist(value)}
    Port.open({:spawn_executable, "/bin/sh"}, [:binary, args: args, env: env] ++ options)
  end

  defp unique, do: System.unique_integer([:positive])
end
