defmodule Everything.Tools do
  @moduledoc """
  What the tools do: one clause each.

  A call runs in a process of its own. Arguments have passed the tool's input schema before they
  come here, so the heads match what the schema promises.
  """

  require Logger

  alias BeamMCP.{Content, Context, Result}
  alias Everything.Media

  @doc "The dispatch function of the instance."
  @spec call(atom(), map(), Context.t()) :: {:ok, term()} | {:error, term()} | Result.t()

  # A binary becomes a text block.
  def call(:test_simple_text, _arguments, _context) do
    {:ok, "This is a simple text response for testing."}
  end

  # A result says its content blocks itself.
  def call(:test_image_content, _arguments, _context), do: Result.tool(Media.image())

  def call(:test_audio_content, _arguments, _context), do: Result.tool(Media.audio())

  def call(:test_embedded_resource, _arguments, _context) do
    text = "This document is embedded in a result."
    Result.tool(Media.document("test://embedded-resource", "text/plain", text))
  end

  def call(:test_multiple_content_types, _arguments, _context) do
    document =
      Media.document("test://mixed-content-resource", "application/json", ~s({"mixed":true}))

    Result.tool([Content.text("Text, picture and document."), Media.image(), document])
  end

  # A text in `:error` is shown to the caller, so that a model can correct itself.
  def call(:test_error_handling, _arguments, _context) do
    {:error, "This tool fails on purpose."}
  end

  def call(:json_schema_2020_12_tool, arguments, _context) do
    {:ok, "Valid: #{arguments |> Map.keys() |> Enum.sort() |> Enum.join(", ")}"}
  end

  def call(:test_x_mcp_header, %{value: value}, _context), do: {:ok, "Header and body: #{value}"}

  def call(:greet, %{name: name}, _context), do: {:ok, "Hello, #{name}!"}

  def call(:echo, %{text: text}, _context), do: {:ok, text}

  # A map becomes structured content, checked against the output schema.
  def call(:add, %{a: a, b: b}, _context), do: {:ok, %{sum: a + b}}

  # The process is told when the client cancels, and killed a little later.
  def call(:slow_compute, %{seconds: seconds} = arguments, context) do
    label = Map.get(arguments, :label, "computation")
    Context.on_cancel(context, fn -> Logger.info("slow_compute #{label} was cancelled") end)
    Process.sleep(round(seconds * 1_000))
    {:ok, "#{label} took #{seconds} s."}
  end

  def call(:whoami, _arguments, %Context{} = context) do
    {:ok,
     %{
       principal: inspect(context.principal),
       client: context.client_info,
       revision: context.revision,
       transport: context.transport,
       request_id: context.request_id,
       ms_left: context.deadline_ms - System.os_time(:millisecond)
     }}
  end
end
