defmodule Protected.Catalog do
  @moduledoc """
  What the server offers.

  To list tools takes the scope `mcp:tools:read` and to call one `mcp:tools:call`, without a word here.
  What a tool needs beyond that stands in its definition.
  """

  @behaviour BeamMCP.Catalog

  alias BeamMCP.ToolSpec

  @impl true
  def capabilities do
    %{tools: [whoami(), read_notes(), write_note(), erase_notes()], resources: [], prompts: []}
  end

  defp whoami do
    %ToolSpec{
      name: :whoami,
      title: "Who am I",
      description: "Returns what the access token says of its bearer.",
      annotations: %{"readOnlyHint" => true}
    }
  end

  defp read_notes do
    %ToolSpec{
      name: :read_notes,
      title: "Read notes",
      description: "Returns the notes of the user.",
      annotations: %{"readOnlyHint" => true}
    }
  end

  # Clients see it, and are told which scope to ask for when they call it.
  defp write_note do
    %ToolSpec{
      name: :write_note,
      title: "Write a note",
      description: "Keeps a note of the user.",
      input_schema: %{
        "type" => "object",
        "properties" => %{"text" => %{"type" => "string", "maxLength" => 1_000}},
        "required" => ["text"],
        "additionalProperties" => false
      },
      required_scopes: ["notes:write"],
      denial: :challenge
    }
  end

  # Who lacks the scope learns of no such tool.
  defp erase_notes do
    %ToolSpec{
      name: :erase_notes,
      title: "Erase notes",
      description: "Forgets the notes of everybody.",
      annotations: %{"destructiveHint" => true},
      required_scopes: ["notes:admin"],
      denial: :neutral
    }
  end
end
