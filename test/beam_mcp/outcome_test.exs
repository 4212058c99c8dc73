defmodule BeamMCP.OutcomeTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Fixture.{Money, Opaque}
  alias BeamMCP.{Outcome, Result}

  doctest Result
  doctest BeamMCP.Encoder

  describe "{:ok, value}" do
    test "is text for a binary" do
      assert Outcome.answer({:ok, "21 degrees"}) == {:text, "21 degrees"}
    end

    test "is structured for maps, lists, numbers, booleans and nil" do
      for value <- [%{a: 1}, [], [1], 1, 1.5, true, false, nil] do
        assert Outcome.answer({:ok, value}) == {:structured, value}
      end
    end

    test "is text for what JSON writes as a string: other atoms, dates, times" do
      assert Outcome.answer({:ok, :done}) == {:text, "done"}
      assert Outcome.answer({:ok, ~D[2026-07-28]}) == {:text, "2026-07-28"}
      assert Outcome.answer({:ok, ~T[12:00:00]}) == {:text, "12:00:00"}
      assert Outcome.answer({:ok, ~N[2026-07-28 12:00:00]}) == {:text, "2026-07-28T12:00:00"}
      assert Outcome.answer({:ok, ~U[2026-07-28 12:00:00Z]}) == {:text, "2026-07-28T12:00:00Z"}
    end

    test "is what its encoder makes of a struct" do
      assert Outcome.answer({:ok, %Money{amount: 3}}) ==
               {:structured, %{amount: 3, on: "2026-07-28"}}
    end

    test "is a fault for a struct without encoder, which is named without its content" do
      error =
        assert_raise ArgumentError, fn -> Outcome.answer({:ok, %Opaque{secret: "swordfish"}}) end

      assert error.message =~
               "BeamMCP.Fixture.Opaque has no implementation of BeamMCP.Encoder"

      refute error.message =~ "swordfish"
    end
  end

  test "{:error, text} is shown, another reason is not" do
    assert Outcome.answer({:error, "no such city"}) == {:error_text, "no such city"}
    assert Outcome.answer({:error, :enoent}) == :failed
    assert Outcome.answer({:error, %{secret: 1}}) == :failed
  end

  test "{:error, error} shows a text that is safe" do
    assert Outcome.answer({:error, Result.safe_error("read-only", data: %{a: 1})}) ==
             {:safe_error, "read-only", %{a: 1}}
  end

  test "a result comes as it is, with or without :ok" do
    result = Result.text("a", structured_content: nil, meta: %{"k" => 1})
    content = [%{"type" => "text", "text" => "a"}]
    assert Outcome.answer(result) == {:result, content, {:some, nil}, false, %{"k" => 1}}
    assert Outcome.answer({:ok, Result.text("a")}) == {:result, content, :none, false, nil}
    assert Outcome.answer(Result.error("a")) == {:result, content, :none, true, nil}
    assert Outcome.answer({:error, Result.text("a")}) == {:result, content, :none, true, nil}
  end

  test "anything else is a fault that is named by its kind" do
    for {wrong, kind} <- [
          {:ok, ":ok"},
          {%{secret: 1}, "a map"},
          {"swordfish", "a binary"},
          {{:ok, 1, 2}, "a tuple of 3"},
          {%Opaque{}, "a BeamMCP.Fixture.Opaque struct"},
          {[1], "a list"},
          {7, "another term"}
        ] do
      error = assert_raise ArgumentError, fn -> Outcome.answer(wrong) end
      assert error.message =~ "from the dispatch function, got #{kind}"
    end
  end

  describe "prepare/1" do
    test "ends with an encoder that returns its own struct" do
      assert_raise ArgumentError, ~r/more than 256 levels/, fn ->
        Outcome.prepare({:structured, %BeamMCP.Fixture.Endless{}})
      end
    end

    test "encodes structs wherever they are and leaves the rest" do
      value = %{
        a: [%Money{amount: 1}, {1, ~D[2026-07-28]}],
        b: %{"c" => ~D[2026-07-28]},
        d: [1 | ~D[2026-07-28]]
      }

      assert Outcome.prepare({:structured, value}) ==
               {:structured,
                %{
                  a: [%{amount: 1, on: "2026-07-28"}, {1, ~D[2026-07-28]}],
                  b: %{"c" => "2026-07-28"},
                  d: [1 | "2026-07-28"]
                }}
    end

    test "reaches every part of a result" do
      date = ~D[2026-07-28]
      answer = {:result, [%{x: date}], {:some, date}, false, %{y: date}}

      assert Outcome.prepare(answer) ==
               {:result, [%{x: "2026-07-28"}], {:some, "2026-07-28"}, false, %{y: "2026-07-28"}}

      assert Outcome.prepare({:result, [], :none, true, nil}) == {:result, [], :none, true, nil}
    end
  end

  test "a result refuses unknown options at the source" do
    for make <- [
          fn -> Result.text("a", structured: 1) end,
          fn -> Result.text("a", error?: true) end,
          fn -> Result.tool([], content: []) end,
          fn -> Result.resource([], ttl: 1) end,
          fn -> Result.prompt([], title: "a") end,
          fn -> Result.completion([], more: true) end,
          fn -> Result.safe_error("a", code: 1) end
        ] do
      error = assert_raise ArgumentError, make
      assert error.message =~ "unknown option"
    end
  end

  test "a result refuses what is no block, message or contents, by its kind" do
    for make <- [
          fn -> Result.tool("swordfish") end,
          fn -> Result.resource(["swordfish"]) end,
          fn -> Result.prompt([~D[2026-01-01]]) end,
          fn -> Result.completion("swordfish") end
        ] do
      error = assert_raise ArgumentError, make
      refute error.message =~ "swordfish"
    end
  end
end
