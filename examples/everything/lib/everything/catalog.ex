defmodule Everything.Catalog do
  @moduledoc "What the server offers: the definitions of its tools, in the order in which they are listed."

  @behaviour BeamMCP.Catalog

  alias BeamMCP.ToolSpec
  alias Everything.Schemas

  @impl true
  def capabilities, do: %{tools: tools(), resources: [], prompts: []}

  defp tools, do: content_tools() ++ schema_tools() ++ everyday_tools()

  # Without an input schema a tool takes no arguments.
  defp content_tools do
    [
      %ToolSpec{name: :test_simple_text, description: "Returns one text."},
      %ToolSpec{name: :test_image_content, description: "Returns one picture."},
      %ToolSpec{name: :test_audio_content, description: "Returns one sound."},
      %ToolSpec{name: :test_embedded_resource, description: "Returns one document."},
      %ToolSpec{
        name: :test_multiple_content_types,
        description: "Returns a text, a picture and a document."
      },
      %ToolSpec{name: :test_error_handling, description: "Fails with a text for the caller."}
    ]
  end

  defp schema_tools do
    [
      %ToolSpec{
        name: :json_schema_2020_12_tool,
        description: "Takes a contact, described with references and conditions.",
        input_schema: Schemas.contact()
      },
      %ToolSpec{
        name: :test_x_mcp_header,
        description: "Takes a value that HTTP clients repeat in the header Mcp-Param-Value.",
        input_schema: Schemas.mirrored_value()
      }
    ]
  end

  defp everyday_tools do
    [
      %ToolSpec{
        name: :greet,
        title: "Greet",
        description: "Greets somebody by name.",
        input_schema: Schemas.object(%{"name" => %{"type" => "string"}}, ["name"]),
        annotations: %{"readOnlyHint" => true}
      },
      %ToolSpec{
        name: :slow_compute,
        title: "Slow computation",
        description: "Takes its time; cancel it to see what happens.",
        input_schema: Schemas.slow_compute()
      },
      %ToolSpec{
        name: :echo,
        title: "Echo",
        description: "Returns its text.",
        input_schema: Schemas.object(%{"text" => %{"type" => "string"}}, ["text"])
      },
      %ToolSpec{
        name: :add,
        title: "Add",
        description: "Adds two numbers.",
        input_schema: Schemas.numbers(["a", "b"]),
        output_schema: Schemas.numbers(["sum"])
      },
      %ToolSpec{
        name: :whoami,
        title: "Who am I",
        description: "Returns what the server knows about this request."
      }
    ]
  end
end
