defmodule BeamMCP.SchemaTest do
  use ExUnit.Case, async: true

  alias BeamMCP.{Error, Schema, ToolSpec}

  doctest Schema

  @schema %{
    "type" => "object",
    "properties" => %{
      "format" => %{"type" => "string", "default" => "summary"},
      "page" => %{
        "type" => "object",
        "properties" => %{"size" => %{"default" => 10}, "from" => %{"default" => 0}}
      },
      "sort" => %{
        "default" => %{"by" => "name"},
        "properties" => %{"down" => %{"default" => false}}
      }
    }
  }

  test "adds what is absent, also in objects, and keeps what is there" do
    assert Schema.apply_property_defaults(%{page: %{"size" => 5}, format: nil}, @schema) ==
             {:ok,
              %{
                format: nil,
                page: %{"size" => 5, "from" => 0},
                sort: %{"by" => "name", "down" => false}
              }}
  end

  test "spells keys as the arguments or the tool do" do
    assert {:ok, %{"format" => "full", "sort" => _}} =
             Schema.apply_property_defaults(%{"format" => "full"}, @schema)

    tool = %ToolSpec{name: "t", input_schema: @schema, argument_keys: :strings}
    assert {:ok, %{"format" => "summary"}} = Schema.apply_property_defaults(%{}, tool)

    assert {:ok, %{format: "summary"}} =
             Schema.apply_property_defaults(%{}, %{tool | argument_keys: :atoms})

    assert Schema.apply_property_defaults(%{}, %ToolSpec{name: "t"}) == {:ok, %{}}
  end

  test "reads schemas with atom keys" do
    schema = %{type: :object, properties: %{format: %{default: "summary"}}}
    assert Schema.apply_property_defaults(%{}, schema) == {:ok, %{format: "summary"}}
  end

  test "follows nothing but properties" do
    schema = %{
      "allOf" => [%{"properties" => %{"a" => %{"default" => 1}}}],
      "$ref" => "#/$defs/b",
      "$defs" => %{"b" => %{"properties" => %{"b" => %{"default" => 1}}}},
      "properties" => %{"c" => %{"items" => %{"properties" => %{"d" => %{"default" => 1}}}}}
    }

    assert Schema.apply_property_defaults(%{c: [%{}]}, schema) == {:ok, %{c: [%{}]}}
  end

  test "ends at its limits" do
    many = for index <- 1..501, into: %{}, do: {"p#{index}", %{"default" => index}}

    assert {:error, %Error{kind: :schema, message: message}} =
             Schema.apply_property_defaults(%{}, %{"properties" => many})

    assert message =~ "500 defaults"

    {:ok, full} = Schema.apply_property_defaults(%{}, %{"properties" => Map.delete(many, "p1")})
    assert map_size(full) == 500

    {value, schema} =
      Enum.reduce(1..64, {%{}, %{}}, fn _level, {value, schema} ->
        {%{"a" => value}, %{"properties" => %{"a" => schema}}}
      end)

    assert {:error, %Error{kind: :schema}} = Schema.apply_property_defaults(value, schema)
  end
end
