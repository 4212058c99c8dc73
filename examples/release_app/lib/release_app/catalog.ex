defmodule ReleaseApp.Catalog do
  @moduledoc "What the server offers."

  @behaviour BeamMCP.Catalog

  alias BeamMCP.ToolSpec

  @impl true
  def capabilities do
    %{tools: [echo(), slow(), crash()], resources: [], prompts: []}
  end

  defp echo do
    %ToolSpec{
      name: :echo,
      title: "Echo",
      description: "Answers with its text.",
      input_schema: %{
        "type" => "object",
        "properties" => %{"text" => %{"type" => "string"}},
        "required" => ["text"],
        "additionalProperties" => false
      }
    }
  end

  defp slow do
    %ToolSpec{
      name: :slow,
      title: "Slow",
      description: "Answers after so many milliseconds.",
      input_schema: %{
        "type" => "object",
        "properties" => %{
          "ms" => %{"type" => "integer", "minimum" => 0, "maximum" => 60_000}
        },
        "required" => ["ms"],
        "additionalProperties" => false
      }
    }
  end

  defp crash do
    %ToolSpec{name: :crash, title: "Crash", description: "Raises, which the log reports."}
  end
end
