defmodule BeamMCP.Catalog do
  @moduledoc """
  What a host offers.

      defmodule MyApp.Catalog do
        @behaviour BeamMCP.Catalog

        @impl true
        def capabilities do
          %{
            tools: [
              %BeamMCP.ToolSpec{
                name: :get_weather,
                description: "Reads the current weather of a place.",
                input_schema: %{
                  "type" => "object",
                  "properties" => %{"place" => %{"type" => "string"}},
                  "required" => ["place"]
                }
              }
            ],
            resources: [],
            prompts: []
          }
        end
      end

  The order of the list is the order in `tools/list`.
  """

  alias BeamMCP.{Context, ToolSpec}

  @typedoc "All three keys are required; an absent one is refused at start."
  @type capabilities :: %{tools: [ToolSpec.t()], resources: [term()], prompts: [term()]}

  @doc """
  The definitions that every caller sees.

  Called by the instance's catalog process at start and after `BeamMCP.catalog_changed/1`.
  """
  @callback capabilities() :: capabilities()

  @doc """
  The definitions that one caller sees, in place of those of `c:capabilities/0`.

  Called for each request that needs them, in a process of its own. What is compiled from them is
  kept, so equal answers cost little. Arguments of these definitions keep string keys. A faulty
  definition is left out of that answer and logged.
  """
  @callback capabilities(Context.t()) :: capabilities()

  @optional_callbacks capabilities: 1
end
