# BeamMCP with its default checks. Run by `mix run` in MIX_ENV=prod; BENCH_TOOLS sets the size of the catalog.

defmodule Bench.Catalog do
  @behaviour BeamMCP.Catalog

  @input_schema %{
    "type" => "object",
    "properties" => %{
      "text" => %{"type" => "string"},
      "count" => %{"type" => "integer"},
      "ratio" => %{"type" => "number"},
      "flag" => %{"type" => "boolean"},
      "tags" => %{"type" => "array", "items" => %{"type" => "string"}}
    },
    "required" => ["text"],
    "additionalProperties" => false
  }

  @impl true
  def capabilities, do: %{tools: [tool(:echo) | others()], resources: [], prompts: []}

  def call(:echo, %{text: text}, _context), do: {:ok, text}

  defp others do
    count = "BENCH_TOOLS" |> System.get_env("1") |> String.to_integer()
    for index <- 2..count//1, do: tool("other_#{index}")
  end

  defp tool(name) do
    %BeamMCP.ToolSpec{
      name: name,
      description: "Returns its text",
      command_class: :observe,
      mode: :read_only,
      input_schema: @input_schema
    }
  end
end

port = "PORT" |> System.fetch_env!() |> String.to_integer()

{:ok, _supervisor} =
  Supervisor.start_link(
    [
      {BeamMCP,
       name: Bench,
       catalog: Bench.Catalog,
       dispatch: &Bench.Catalog.call/3,
       http: [ip: {127, 0, 0, 1}, port: port, authorize: :none, allowed_origins: []]}
    ],
    strategy: :one_for_one
  )

IO.puts("READY #{port}")
Process.sleep(:infinity)
