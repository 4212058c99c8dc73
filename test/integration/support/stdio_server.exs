# The program that stdio_test.exs talks to: a handful of tools behind BeamMCP.Transport.Stdio.run/1.

defmodule BeamMCP.Test.StdioServer do
  @moduledoc false
  @behaviour BeamMCP.Catalog

  require Logger

  alias BeamMCP.{Context, ToolSpec}

  @impl true
  def capabilities do
    %{
      tools: Enum.map([:echo, :sleep, :print, :log, :marks, :whoami, :roots], &tool/1),
      resources: [],
      prompts: []
    }
  end

  # `ms` is how long to sleep; `mark` is written to a file when the call was cancelled or ended.
  def call(:sleep, %{ms: ms} = arguments, context) do
    mark = Map.get(arguments, :mark, "")
    Context.on_cancel(context, fn -> :ets.insert(:marks, {mark, "cancelled"}) end)
    Process.sleep(ms)
    :ets.insert(:marks, {mark, "ended"})
    {:ok, "slept"}
  end

  def call(:marks, _arguments, _context), do: {:ok, Map.new(:ets.tab2list(:marks))}

  def call(:print, _arguments, _context) do
    IO.puts("noise: IO.puts")
    :erlang.display(:noise)
    log()
  end

  def call(:log, _arguments, _context), do: log()

  def call(:roots, _arguments, context), do: {:ok, inspect(Context.roots(context))}

  def call(:echo, arguments, _context), do: {:ok, arguments}

  def call(:whoami, _arguments, context) do
    {:ok, %{principal: context.principal, scopes: context.scopes}}
  end

  defp log do
    Logger.error("noise: logger")
    :logger.error(%{report: "noise: report"})
    {:ok, "logged"}
  end

  defp tool(name), do: %ToolSpec{name: name, input_schema: schema(name)}

  defp schema(:sleep) do
    %{"type" => "object", "properties" => %{"ms" => %{"type" => "integer"}, "mark" => %{}}}
  end

  defp schema(_name), do: %{"type" => "object"}
end

:ets.new(:marks, [:named_table, :public])
{:ok, _started} = Application.ensure_all_started(:beam_mcp)

:ok =
  BeamMCP.Transport.Stdio.run(
    catalog: BeamMCP.Test.StdioServer,
    dispatch: &BeamMCP.Test.StdioServer.call/3,
    principal: "the launcher's user"
  )
