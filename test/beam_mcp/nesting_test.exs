defmodule BeamMCP.NestingTest do
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias BeamMCP.Error
  alias BeamMCP.Fixture.Client

  # Deeper than the 128 levels at which common JSON readers stop, within the 256 that terms may have.
  @levels 140

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities, do: :persistent_term.get(__MODULE__)
  end

  def deep(levels, innermost), do: Enum.reduce(1..levels, innermost, fn _, inner -> [inner] end)

  def call(:deep, %{}, _context), do: {:ok, %{value: deep(@levels, 1)}}

  defp options(name, tool) do
    :persistent_term.put(Catalog, %{tools: [tool], resources: [], prompts: []})
    http = [authorize: :none, allowed_origins: [], port: 0]
    [name: name, catalog: Catalog, dispatch: &__MODULE__.call/3, http: http]
  end

  test "a schema nested too deep is refused with its place", %{test: name} do
    Process.flag(:trap_exit, true)
    items = Enum.reduce(1..@levels, %{type: :integer}, &%{type: :array, items: &2, minItems: &1})
    schema = %{type: :object, properties: %{value: items}}
    tool = %BeamMCP.ToolSpec{name: :deep, input_schema: schema}

    {result, _log} = with_log(fn -> BeamMCP.start_link(options(name, tool)) end)

    assert {:error, %Error{kind: :catalog, details: [%{definition: "deep", message: message}]}} =
             result

    assert message =~ "deep"
  end

  test "a result nested deep is checked whole", %{test: name} do
    schema = %{type: :object, properties: %{value: %{type: :array}}, required: [:value]}

    start_supervised!(
      {BeamMCP, options(name, %BeamMCP.ToolSpec{name: :deep, output_schema: schema})}
    )

    assert {200, body} = name |> Client.connect() |> Client.call("deep", "{}")
    assert body =~ ~s("structuredContent":{"value":[[[)
    refute body =~ "isError"
  end
end
