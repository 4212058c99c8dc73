defmodule BeamMCP.Relay do
  @moduledoc false
  # Takes what a session's client says to one node - a cancellation, a response - to the node that
  # runs the call it is about (MCP 2025-11-25 basic/transports: a client's POSTs share nothing but the
  # session).
  #
  # The process of the request asks every other node and waits for all of them, so that no more
  # messages are under way than requests. Nothing that a client sent becomes an atom: the session's id
  # and the message stay binaries until the native library of the other node reads them.

  use GenServer

  alias BeamMCP.{Group, Instance, Native}

  # A node that does not answer so long is left alone; the client has its answer within a second.
  @patience_ms 500

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name), do: GenServer.start_link(__MODULE__, name)

  @doc "Has the other instances of the namespace look for the call; returns when they have."
  @spec tell(Instance.t(), session :: String.t(), message :: binary()) :: :ok
  def tell(instance, session, message) do
    asked = {origin(instance), session, message}
    requests = for member <- Group.members(instance, __MODULE__), do: ask(member, asked)
    deadline = now_ms() + @patience_ms
    Enum.each(requests, &await(&1, deadline))
  end

  @impl GenServer
  def init(name) do
    instance = Instance.fetch!(name)
    :ok = Group.join(instance, __MODULE__)
    {:ok, instance}
  end

  @impl GenServer
  def handle_info({:beam_mcp, :relayed, {from, ref}, {origin, session, message}}, instance) do
    if origin != origin(instance), do: :ok = Native.relayed(instance.native, session, message)
    send(from, {:beam_mcp, :told, ref})
    {:noreply, instance}
  end

  def handle_info({:DOWN, _ref, :process, _scope, _reason}, instance) do
    :ok = Group.rejoin()
    {:noreply, instance}
  end

  def handle_info(:join, instance) do
    :ok = Group.join(instance, __MODULE__)
    {:noreply, instance}
  end

  def handle_info(_other, instance), do: {:noreply, instance}

  defp ask(member, asked) do
    ref = Process.monitor(member)
    :erlang.send(member, {:beam_mcp, :relayed, {self(), ref}, asked}, [:noconnect])
    ref
  end

  defp await(ref, deadline) do
    receive do
      {:beam_mcp, :told, ^ref} -> Process.demonitor(ref, [:flush])
      {:DOWN, ^ref, :process, _member, _reason} -> :gone
    after
      max(deadline - now_ms(), 0) -> Process.demonitor(ref, [:flush])
    end
  end

  defp origin(instance), do: {node(), instance.name}
  defp now_ms, do: System.monotonic_time(:millisecond)
end
