defmodule Everything.Tools do
  @moduledoc """
  What the tools do: one clause each.

  A call runs in a process of its own. Arguments have passed the tool's input schema before they
  come here, so the heads match what the schema promises.
  """

  require Logger

  alias BeamMCP.{Content, Context, PromptSpec, Result, ToolSpec}
  alias Everything.Media

  # Between two messages, as if there were work to do.
  @pause_ms 50

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

  # Clients that ask for progress get it, others do not: the tool need not know.
  def call(:test_tool_with_progress, _arguments, context) do
    for done <- [0, 50, 100] do
      :ok = Context.progress(context, done, 100, "#{done} of 100")
      Process.sleep(@pause_ms)
    end

    {:ok, "The work is done."}
  end

  def call(:test_tool_with_logging, _arguments, context) do
    for step <- ["begun", "gone on", "ended"] do
      :ok = Context.log(context, :info, "The work has #{step}.", logger: "everything")
      Process.sleep(@pause_ms)
    end

    {:ok, "Three messages were written."}
  end

  # The connection is given back while the work goes on; the client comes back for the result.
  def call(:test_reconnection, _arguments, context) do
    _closed_or_not_supported = Context.close_stream(context)
    Process.sleep(2 * @pause_ms)
    {:ok, "The client came back, or never had to leave."}
  end

  # Any term that JSON can say is the data of a message.
  def call(:test_logging_tool, _arguments, context) do
    :ok = Context.log(context, :info, %{tool: :test_logging_tool, revision: context.revision})
    {:ok, "One message was written."}
  end

  # What is registered and taken away tells its clients by itself.
  def call(:test_trigger_tool_change, _arguments, context) do
    spec = %ToolSpec{name: "test_added_tool", description: "Comes and goes."}
    toggle(context.instance, :tool, spec, fn _arguments -> {:ok, "Still here."} end)
  end

  def call(:test_trigger_prompt_change, _arguments, context) do
    spec = %PromptSpec{name: "test_added_prompt", description: "Comes and goes."}
    toggle(context.instance, :prompt, spec, fn _asked -> {:ok, "Still here."} end)
  end

  # Who changes a resource says so.
  def call(:test_trigger_resource_change, _arguments, context) do
    :ok = BeamMCP.notify_resource_updated(context.instance, "test://watched-resource")
    {:ok, "Subscribers were told."}
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

  defp toggle(instance, kind, spec, handler) do
    with {:error, _not_registered} <- BeamMCP.unregister(instance, kind, spec.name) do
      :ok = BeamMCP.register_all(instance, [{kind, spec, handler}])
    end

    {:ok, "The list of #{kind}s has changed."}
  end
end
