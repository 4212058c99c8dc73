defmodule BeamMCP.Catalog.DifferenceTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.{Definition, Difference}

  # Tools for atoms, prompts for strings; the number stands for all that is not the key.
  defp definitions(list) do
    for {key, native} <- list do
      kind = if is_atom(key), do: :tool, else: :prompt
      %Definition{kind: kind, key: key, name: key, native: native, handler: nil}
    end
  end

  defp between(before, now) do
    {deleted, put} = Difference.between(definitions(before), definitions(now))
    {for({_kind, key} <- deleted, do: key), for(%{key: key, native: it} <- put, do: {key, it})}
  end

  test "is nothing between equal lists" do
    assert between([], []) == {[], []}
    assert between([a: 1, b: 1], a: 1, b: 1) == {[], []}
  end

  test "is what changed, came and went" do
    assert between([a: 1, b: 1, c: 1], a: 1, b: 2, c: 1) == {[], [b: 2]}
    assert between([a: 1, b: 1, c: 1], b: 1, c: 1) == {[:a], []}
    assert between([a: 1], a: 1, b: 1) == {[], [b: 1]}
    assert between([a: 1, b: 1], c: 1) == {[:a, :b], [c: 1]}
    assert between([a: 1], []) == {[:a], []}
  end

  test "is all from the first on that is out of order" do
    assert between([a: 1, b: 1, c: 1], a: 1, c: 1, b: 1) == {[:b, :c], [c: 1, b: 1]}
    assert between([a: 1, c: 1], a: 2, b: 1, c: 1) == {[:c], [a: 2, b: 1, c: 1]}
  end

  test "leaves alone the kinds whose own order stays" do
    assert between([{:a, 1}, {"x", 1}, {:b, 1}], [{"x", 1}, {:a, 1}, {:b, 1}]) == {[], []}
    assert between([{:a, 1}, {"x", 1}], [{:b, 1}, {:a, 1}, {"x", 1}]) == {[:a], [b: 1, a: 1]}
  end

  test "leads from any list to any other" do
    :rand.seed(:exsss, {1, 2, 3})

    for _round <- 1..500 do
      [before, now] = for _list <- 1..2, do: some()
      {deleted, put} = between(before, now)
      assert put |> Enum.reduce(Keyword.drop(before, deleted), &put/2) == now
    end
  end

  defp some do
    for key <- Enum.take_random(~w(a b c d e f)a, :rand.uniform(7) - 1),
        do: {key, :rand.uniform(2)}
  end

  # As the native library puts: in the place of the same key, or last.
  defp put({key, native}, list) do
    if Keyword.has_key?(list, key),
      do: Keyword.replace!(list, key, native),
      else: list ++ [{key, native}]
  end
end
