defmodule BeamMCP.Transport.Stdio.Reader do
  @moduledoc false
  # Reads lines through the VM's reader and hands them on, one after the other, waiting while the
  # native side has no room. Writes lines to the same device.
  #
  # The device is set to pass bytes as they are. OTP 26 and 27 have decoded what came before that,
  # and would garble it; there the device keeps its encoding and lines pass as characters, except
  # that bytes which are no UTF-8 turn into Latin-1 characters instead of being refused.

  alias BeamMCP.Native

  @retry_ms 5
  @decode_ahead [~c"26", ~c"27"]

  @spec start_link(Native.pipe()) :: {:ok, pid()}
  def start_link(pipe) do
    unless :erlang.system_info(:otp_release) in @decode_ahead do
      :ok = :io.setopts(:standard_io, binary: true, encoding: :latin1)
    end

    Task.start_link(fn -> read(pipe) end)
  end

  @doc false
  @spec write(binary()) :: :ok
  def write(line) do
    if passes_bytes?(), do: IO.binwrite(line), else: IO.write(line)
  end

  defp read(pipe) do
    case read_line() do
      line when is_binary(line) ->
        hand_on(pipe, line)
        read(pipe)

      _end_or_error ->
        Native.close_stdio(pipe)
    end
  end

  defp read_line do
    if passes_bytes?(), do: IO.binread(:stdio, :line), else: IO.read(:stdio, :line)
  end

  # Asked each time, for the VM itself turns to Latin-1 at bytes that are no UTF-8.
  defp passes_bytes?, do: :io.getopts(:standard_io)[:encoding] == :latin1

  defp hand_on(pipe, line) do
    if Native.stdio_line(pipe, line) == :busy do
      Process.sleep(@retry_ms)
      hand_on(pipe, line)
    end
  end
end
