defmodule Everything.Schemas do
  @moduledoc "The JSON Schemas of the tools' arguments and results."

  @doc "An object of these properties and no others."
  @spec object(map(), [String.t()]) :: map()
  def object(properties, required) do
    %{
      "type" => "object",
      "properties" => properties,
      "required" => required,
      "additionalProperties" => false
    }
  end

  @doc "A form of these fields."
  @spec form(map(), [String.t()]) :: map()
  def form(fields, required), do: %{type: "object", properties: fields, required: required}

  @doc "An object of numbers, all of them required."
  @spec numbers([String.t()]) :: map()
  def numbers(names), do: object(Map.new(names, &{&1, %{"type" => "number"}}), names)

  @doc "How long, and under which label."
  @spec slow_compute() :: map()
  def slow_compute do
    object(
      %{
        "seconds" => %{"type" => "number", "minimum" => 0, "maximum" => 60},
        "label" => %{"type" => "string", "description" => "Appears in the answer."}
      },
      ["seconds"]
    )
  end

  @doc "One value that HTTP clients also send as a header (MCP 2026-07-28 server/tools)."
  @spec mirrored_value() :: map()
  def mirrored_value do
    object(%{"value" => %{"type" => "string", "x-mcp-header" => "Value"}}, ["value"])
  end

  @doc "A contact with an address, reached by phone or by email: the wider vocabulary of 2020-12."
  @spec contact() :: map()
  def contact do
    properties = %{
      "name" => %{"type" => "string"},
      "address" => %{"$ref" => "#/$defs/address"},
      "contactMethod" => %{"type" => "string", "enum" => ["phone", "email"]},
      "phone" => %{"type" => "string"},
      "email" => %{"type" => "string"}
    }

    %{
      "$schema" => "https://json-schema.org/draft/2020-12/schema",
      "type" => "object",
      "$defs" => %{"address" => address()},
      "properties" => properties,
      "allOf" => [%{"anyOf" => [requires("phone"), requires("email")]}],
      "if" => %{
        "properties" => %{"contactMethod" => %{"const" => "phone"}},
        "required" => ["contactMethod"]
      },
      "then" => requires("phone"),
      "else" => requires("email"),
      "additionalProperties" => false
    }
  end

  defp address do
    %{
      "$anchor" => "address",
      "type" => "object",
      "properties" => %{
        "street" => %{"type" => "string"},
        "city" => %{"type" => "string"}
      }
    }
  end

  defp requires(name), do: %{"required" => [name]}
end
