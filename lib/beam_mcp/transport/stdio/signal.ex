defmodule BeamMCP.Transport.Stdio.Signal do
  @moduledoc false
  # SIGTERM ends a stdio server as end of input does: what runs finishes within its bound, is
  # written, and `run/1` returns. The VM's own handler would stop the VM at once.

  @behaviour :gen_event

  alias BeamMCP.Native

  @server :erl_signal_server
  @default :erl_signal_handler

  @doc "From now on SIGTERM closes the pipe."
  @spec close_on_sigterm(Native.pipe()) :: :ok
  def close_on_sigterm(pipe),
    do: :gen_event.swap_handler(@server, {@default, []}, {__MODULE__, pipe})

  @doc "From now on SIGTERM stops the VM again."
  @spec restore() :: :ok
  def restore, do: :gen_event.swap_handler(@server, {__MODULE__, []}, {@default, []})

  @impl :gen_event
  def init({pipe, _replaced}) do
    {:ok, default} = @default.init([])
    {:ok, {pipe, default}}
  end

  @impl :gen_event
  def handle_event(:sigterm, {pipe, _default} = state) do
    Native.close_stdio(pipe)
    {:ok, state}
  end

  # The other signals keep their meaning.
  def handle_event(signal, {pipe, default}) do
    {:ok, default} = @default.handle_event(signal, default)
    {:ok, {pipe, default}}
  end

  @impl :gen_event
  def handle_call(_request, state), do: {:ok, :ok, state}
end
