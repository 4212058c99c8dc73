defmodule BeamMCP.Catalog.HandlersTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.{Definition, Handlers}

  setup do
    %{instance: %{handlers: :ets.new(:handlers, [:public])}}
  end

  defp definition(kind, name, handler) do
    %Definition{kind: kind, key: to_string(name), name: name, native: %{}, handler: handler}
  end

  test "numbers stand for functions, names for the host's common ones", %{instance: instance} do
    handler = {:fun, fn _arguments -> :ok end, 1}

    definitions = [
      definition(:tool, :own, handler),
      definition(:tool, :common, nil),
      definition(:prompt, "common", nil),
      definition(:resource, "a:b", nil)
    ]

    assert {[
              tool: %{handler: number},
              tool: %{handler: :common},
              prompt: %{handler: "common"},
              resource: %{handler: "a:b"}
            ], [number]} = Handlers.assign(instance, definitions)

    assert Handlers.fetch!(instance, number) == {:own, handler}
    assert Handlers.forget(instance, [number]) == :ok
    assert :ets.info(instance.handlers, :size) == 0
  end

  test "each compilation has numbers of its own", %{instance: instance} do
    one = definition(:tool, "a", {:fun, fn _ -> :ok end, 1})
    {_native, [first]} = Handlers.assign(instance, [one])
    {_native, [second]} = Handlers.assign(instance, [one])
    assert first != second
  end
end
