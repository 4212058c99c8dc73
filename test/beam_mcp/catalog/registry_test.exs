defmodule BeamMCP.Catalog.RegistryTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.{Definition, Registry}

  defp definition(key, more \\ []) do
    fields = [kind: :tool, key: key, name: key, native: %{name: key}, handler: nil]
    struct!(Definition, fields ++ more)
  end

  defp keys(table), do: Enum.map(Registry.registered(table), & &1.key)

  setup do
    table = Registry.new()
    first = make_ref()
    :ok = Registry.commit(table, first, [], Enum.map(~w(a b c), &definition/1))
    %{table: table, first: first}
  end

  test "an empty one serves nothing" do
    assert Registry.current(Registry.new()) == :none
  end

  test "remembers the catalog and what was registered, in order", %{table: table, first: first} do
    assert Registry.current(table) == {:ok, first}
    assert keys(table) == ~w(a b c)
    assert Registry.owner(table, {:tool, "a"}) == :registry
    assert Registry.owner(table, {:prompt, "a"}) == nil
  end

  test "keeps the position of what is replaced", %{table: table} do
    next = make_ref()
    new = definition("b", native: %{name: "b", title: "B"})
    :ok = Registry.commit(table, next, [], [definition("d"), new])
    assert Registry.current(table) == {:ok, next}
    assert keys(table) == ~w(a b c d)
    assert Enum.at(Registry.registered(table), 1) == new
  end

  test "gives what is deleted and put a position at the end", %{table: table} do
    ids = for key <- ~w(a b c), do: {:tool, key}
    :ok = Registry.commit(table, make_ref(), ids, Enum.map(~w(c a), &definition/1))
    assert keys(table) == ~w(c a)
    assert Registry.owner(table, {:tool, "b"}) == nil
    assert :ets.info(table, :size) == 3
  end

  test "knows what the catalog module declared, without keeping it", %{table: table} do
    declared = for key <- ~w(x y), do: definition(key, owner: :catalog)
    :ok = Registry.commit(table, make_ref(), [], declared)
    assert Enum.sort(Registry.declared(table)) == [{:tool, "x"}, {:tool, "y"}]
    assert Registry.owner(table, {:tool, "x"}) == :catalog
    assert keys(table) == ~w(a b c)

    :ok = Registry.commit(table, make_ref(), Registry.declared(table), tl(declared))
    assert Registry.declared(table) == [{:tool, "y"}]
  end

  test "knows what a definition brought along", %{table: table} do
    part = definition("p", owner: {:tool, "whole"})
    whole = definition("whole", parts: [Definition.id(part)])
    :ok = Registry.commit(table, make_ref(), [], [whole, part])
    assert Registry.parts(table, {:tool, "whole"}) == [{:tool, "p"}]
    assert Registry.parts(table, {:tool, "a"}) == []
    assert Registry.owner(table, {:tool, "p"}) == {:tool, "whole"}
  end
end
