defmodule BeamMCP.Transport.Stdio.Signal do
  @moduledoc false
  # SIGTERM ends a stdio server as end of input does: what runs finishes within its bound, is
  # written, and `run/1` returns. The VM's own handler would stop the VM at once.

  @behaviour :gen_event

  alias BeamMCP.Native

  @spec close_on_sigterm(Native.pipe()) :: :ok
  def close_on_sigterm(pipe) do
    :gen_event.swap_handler(:erl_signal_server, {:erl_signal_handler, []}, {__MODULE__, pipe})
  end

  @impl :gen_event
  def init({pipe, _replaced}), do: {:ok, pipe}

  @impl :gen_event
  def handle_event(:sigterm, pipe) do
    Native.close_stdio(pipe)
    {:ok, pipe}
  end

  # The other signals keep their meaning.
  def handle_event(signal, pipe) do
    :erl_signal_handler.handle_event(signal, {})
    {:ok, pipe}
  end

  @impl :gen_event
  def handle_call(_request, pipe), do: {:ok, :ok, pipe}
end
