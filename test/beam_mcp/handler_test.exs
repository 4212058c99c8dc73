defmodule BeamMCP.HandlerTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Handler

  doctest Handler

  test "gets as many of the arguments as it takes, and its own after them" do
    for {declared, arities, result} <- [
          {fn one, two -> {one, two} end, [2, 1], {1, 2}},
          {fn one -> one end, [2, 1], 1},
          {fn -> :none end, [1, 0], :none},
          {{Enum, :max, []}, [1], :error},
          {{Kernel, :+}, [2], 3},
          {{Kernel, :div, [1]}, [2, 1], 1}
        ],
        result != :error do
      {:ok, handler} = Handler.new(declared, arities)
      assert Handler.call(handler, [1, 2]) == result
    end
  end

  test "is nothing else" do
    for other <- [nil, :fun, {String}, {"String", :split}, {String, :split, :extra}, fn -> 1 end],
        do: assert(Handler.new(other, [2, 1]) == :error)
  end
end
