defmodule BeamMCP.Outcome.CompletionTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Outcome.Completion
  alias BeamMCP.Result

  test "values are a list, or a result that says how many there are" do
    assert Completion.answer({:ok, ["a", "b"]}) == {:completion, ["a", "b"], nil, nil}
    result = Result.completion(["a"], total: 7, has_more: true)
    assert Completion.answer(result) == {:completion, ["a"], 7, true}
    assert Completion.answer({:ok, result}) == {:completion, ["a"], 7, true}
  end

  test "a failure is a text for the caller, or nobody's business" do
    assert Completion.answer({:error, "no"}) == {:safe_error, "no", nil}
    assert Completion.answer({:error, Result.safe_error("no")}) == {:safe_error, "no", nil}
    assert Completion.answer({:error, :timeout}) == :failed
  end

  test "anything else is a fault" do
    error = assert_raise ArgumentError, fn -> Completion.answer({:ok, "a"}) end
    assert error.message =~ "from the handler of a completion, got a tuple of 2"
  end
end
