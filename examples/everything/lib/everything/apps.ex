defmodule Everything.Apps do
  @moduledoc """
  A tool that is shown as an app: `dice` rolls dice, and its page draws them.

  A client that shows no apps reads the same in words.
  """

  alias BeamMCP.{App, Result, ResourceSpec, ToolSpec}
  alias Everything.Schemas

  @uri "ui://everything/dice.html"
  @external_resource page = Path.join(__DIR__, "dice.html")
  @html File.read!(page)

  @doc "The tool."
  @spec tools() :: [ToolSpec.t()]
  def tools do
    [
      %ToolSpec{
        name: :dice,
        title: "Dice",
        description: "Rolls dice.",
        input_schema:
          Schemas.object(
            %{"count" => %{"type" => "integer", "minimum" => 1, "maximum" => 6}},
            ["count"]
          ),
        output_schema:
          Schemas.object(
            %{"dice" => %{"type" => "array", "items" => %{"type" => "integer"}}},
            ["dice"]
          ),
        _meta: App.tool_meta(@uri),
        handler: &roll/1
      }
    ]
  end

  @doc "Its page."
  @spec resources() :: [ResourceSpec.t()]
  def resources do
    [
      %ResourceSpec{
        uri: @uri,
        name: "dice-page",
        title: "Dice",
        description: "The page that shows what `dice` rolled.",
        mime_type: App.mime_type(),
        handler: &page/1
      }
    ]
  end

  defp roll(%{count: count}) do
    dice = for _die <- 1..count, do: :rand.uniform(6)
    text = "Rolled #{Enum.join(dice, ", ")}: #{Enum.sum(dice)} in all."
    {:ok, Result.text(text, structured_content: %{dice: dice})}
  end

  # It asks for nothing of the network, so that its frame allows nothing.
  defp page(%{uri: uri}), do: uri |> App.contents(@html, border: true) |> Result.resource()
end
