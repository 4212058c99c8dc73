defmodule BeamMCP.Outcome.PromptTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Outcome.Prompt
  alias BeamMCP.{Content, Outcome, Result}

  test "messages are a text of the user, one or several" do
    message = Content.prompt_message(:user, "t")
    assert Prompt.answer({:ok, "t"}) == {:prompt, nil, [message], nil}
    assert Prompt.answer({:ok, message}) == {:prompt, nil, [message], nil}
    assert Prompt.answer({:ok, [message, message]}) == {:prompt, nil, [message, message], nil}
    assert Prompt.answer({:ok, []}) == {:prompt, nil, [], nil}
  end

  test "a result has its description and meta" do
    message = Content.prompt_message(:assistant, Content.image("a", "image/png"))
    result = Result.prompt(message, description: "d", meta: %{"k" => 1})
    assert Prompt.answer(result) == {:prompt, "d", [message], %{"k" => 1}}
    assert Prompt.answer({:ok, result}) == Prompt.answer(result)
  end

  test "a failure is a text for the caller, or nobody's business" do
    assert Prompt.answer({:error, "no"}) == {:safe_error, "no", nil}
    assert Prompt.answer({:error, Result.safe_error("no")}) == {:safe_error, "no", nil}
    assert Prompt.answer({:error, :not_found}) == :failed
  end

  test "anything else is a fault" do
    error = assert_raise ArgumentError, fn -> Prompt.answer(:ok) end
    assert error.message =~ "from the handler of a prompt, got :ok"
  end

  test "prepare/1 encodes structs wherever they are" do
    assert Outcome.prepare({:prompt, "d", [%{a: ~D[2026-07-28]}], nil}) ==
             {:prompt, "d", [%{a: "2026-07-28"}], nil}
  end
end
