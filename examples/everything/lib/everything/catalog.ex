defmodule Everything.Catalog do
  @moduledoc "What the server offers, in the order in which it is listed."

  @behaviour BeamMCP.Catalog

  alias BeamMCP.{PromptArgument, PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}
  alias Everything.{Asking, Prompts, Resources, Schemas}

  @impl true
  def capabilities,
    do: %{
      tools: tools(),
      resources: resources() ++ Asking.resources(),
      templates: templates(),
      prompts: prompts() ++ Asking.prompts()
    }

  # For the definitions below that name no handler.
  @impl true
  defdelegate read_resource(uri, context), to: Resources, as: :read

  @impl true
  defdelegate get_prompt(name, arguments, context), to: Prompts, as: :get

  defp tools,
    do:
      content_tools() ++
        message_tools() ++
        changing_tools() ++ schema_tools() ++ everyday_tools() ++ Asking.tools()

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

  defp message_tools do
    [
      %ToolSpec{
        name: :test_tool_with_progress,
        description: "Tells how far it is, three times, before it answers."
      },
      %ToolSpec{
        name: :test_tool_with_logging,
        description: "Writes three log messages before it answers."
      },
      %ToolSpec{
        name: :test_logging_tool,
        description: "Writes one log message, for clients that ask for it, and answers."
      },
      %ToolSpec{
        name: :test_reconnection,
        description: "Ends the response before the result where the client can come back for it."
      }
    ]
  end

  defp changing_tools do
    [
      %ToolSpec{
        name: :test_trigger_tool_change,
        description: "Adds a tool, or takes it away again; subscribers hear of it."
      },
      %ToolSpec{
        name: :test_trigger_prompt_change,
        description: "Adds a prompt, or takes it away again; subscribers hear of it."
      },
      %ToolSpec{
        name: :test_trigger_resource_change,
        description: "Tells subscribers that the watched resource has changed."
      }
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

  defp resources do
    [
      %ResourceSpec{
        uri: "test://static-text",
        name: "static-text",
        title: "A text",
        description: "A text that never changes.",
        mime_type: "text/plain",
        annotations: [audience: [:user, :assistant], priority: 0.5]
      },
      %ResourceSpec{
        uri: "test://static-binary",
        name: "static-binary",
        title: "A picture",
        description: "One red pixel.",
        mime_type: "image/png",
        size: byte_size(Everything.Media.png()),
        cache_ttl_ms: 3_600_000
      },
      %ResourceSpec{
        uri: "test://watched-resource",
        name: "watched-resource",
        title: "The time",
        description: "The time of day on the server.",
        mime_type: "text/plain",
        handler: &Resources.time/1
      }
    ]
  end

  defp templates do
    [
      %ResourceTemplateSpec{
        uri_template: "test://template/{id}/data",
        name: "template-data",
        title: "Data by id",
        description: "An object that repeats its id.",
        mime_type: "application/json",
        handler: &Resources.data/1,
        completions: %{id: &Resources.ids/1}
      }
    ]
  end

  defp prompts do
    [
      %PromptSpec{
        name: :test_simple_prompt,
        title: "A plain prompt",
        description: "One message without arguments."
      },
      %PromptSpec{
        name: :test_prompt_with_arguments,
        title: "A prompt with arguments",
        description: "One message that quotes its arguments.",
        arguments: [
          %PromptArgument{
            name: :arg1,
            description: "The first value.",
            required: true,
            completions: ["test", "testing", "tested", "another"]
          },
          %PromptArgument{name: :arg2, description: "The second value.", required: true}
        ]
      },
      %PromptSpec{
        name: :test_prompt_with_embedded_resource,
        title: "A prompt with a document",
        description: "A document and a question about it.",
        arguments: [
          %PromptArgument{
            name: :resourceUri,
            description: "The URI that the document is given.",
            required: true
          }
        ]
      },
      %PromptSpec{
        name: :test_prompt_with_image,
        title: "A prompt with a picture",
        description: "A picture and a question about it.",
        handler: &Prompts.picture/1
      }
    ]
  end
end
