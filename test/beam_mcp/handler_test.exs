defmodule BeamMCP.HandlerTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Handler

  doctest Handler

  test "gets as many of the arguments as it takes, and its own after them" do
    for {declared, arities, result} <- [
          {fn one, two -> {one, two} end, [2, 1], {1, 2}},
          {fn one -> one end, [2, 1], 1},
          {fn -> :none end, [1, 0], :none},
          {{Kernel, :+}, [2], 3},
          {&div/2, [2, 1], 0},
          {{Kernel, :div, [1]}, [2, 1], 1}
        ] do
      {:ok, handler} = Handler.new(declared, arities)
      assert Handler.call(handler, [1, 2]) == result
    end
  end

  test "is nothing else" do
    for other <- [
          nil,
          :fun,
          {String},
          {"String", :split},
          {String, :split, :extra},
          {String, :split, 2},
          Function.capture(String, :missing, 2),
          Function.capture(Missing, :call, 1),
          fn -> 1 end
        ],
        do: assert(Handler.new(other, [2, 1]) == :error)
  end
end
