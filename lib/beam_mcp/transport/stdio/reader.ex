defmodule BeamMCP.Transport.Stdio.Reader do
  @moduledoc false
  # Reads lines through the VM's reader and hands them on, one after the other, waiting while the
  # native side has no room.

  alias BeamMCP.Native

  @retry_ms 5

  @spec start_link(Native.pipe()) :: {:ok, pid()}
  def start_link(pipe) do
    # Bytes pass as they are, in both directions.
    :ok = :io.setopts(:standard_io, binary: true, encoding: :latin1)
    Task.start_link(fn -> read(pipe) end)
  end

  defp read(pipe) do
    case IO.binread(:stdio, :line) do
      line when is_binary(line) ->
        hand_on(pipe, line)
        read(pipe)

      _end_or_error ->
        Native.close_stdio(pipe)
    end
  end

  defp hand_on(pipe, line) do
    if Native.stdio_line(pipe, line) == :busy do
      Process.sleep(@retry_ms)
      hand_on(pipe, line)
    end
  end
end
