defmodule ReleaseApp.Tools do
  @moduledoc "Runs the tools, each call in a process of its own."

  alias BeamMCP.Context
  alias ReleaseApp.Chatter

  @doc "The dispatch function."
  @spec call(atom(), map(), Context.t()) :: {:ok, term()} | {:error, term()}
  def call(:echo, %{text: text}, _context) do
    Chatter.print("in a tool")
    {:ok, text}
  end

  def call(:slow, %{ms: ms}, context) do
    Context.on_cancel(context, fn -> Chatter.print("slow was cancelled") end)
    Process.sleep(ms)
    {:ok, "slept #{ms} ms"}
  end

  def call(:crash, _arguments, _context), do: raise("on purpose")
end
