defmodule BeamMCP.Outcome.ReadTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Outcome.Read
  alias BeamMCP.{Content, Outcome, Result}

  test "contents are a text, one or several" do
    text = Content.resource_text("a:b", "t")
    assert Read.answer({:ok, "t"}) == {:contents, [%{"text" => "t"}], nil, nil}
    assert Read.answer({:ok, text}) == {:contents, [text], nil, nil}
    assert Read.answer({:ok, [text, text]}) == {:contents, [text, text], nil, nil}
  end

  test "a result has its meta and what caches may do" do
    text = Content.resource_text("a:b", "t")
    result = Result.resource(text, meta: %{"k" => 1}, cache_ttl_ms: 5, cache_scope: :private)
    assert Read.answer(result) == {:contents, [text], %{"k" => 1}, {5, :private}}
    assert Read.answer({:ok, result}) == Read.answer(result)
    assert Read.answer(Result.resource([text])) == {:contents, [text], nil, nil}

    assert Read.answer(Result.resource(text, cache_ttl_ms: 5)) ==
             {:contents, [text], nil, {5, nil}}
  end

  test "a failure is absence, a text for the caller, or nobody's business" do
    assert Read.answer({:error, :not_found}) == :not_found
    assert Read.answer({:error, "gone"}) == {:safe_error, "gone", nil}

    assert Read.answer({:error, Result.safe_error("gone", data: 1)}) == {:safe_error, "gone", 1}
    assert Read.answer({:error, :enoent}) == :failed
  end

  test "anything else is a fault that is named by its kind" do
    for {wrong, kind} <- [
          {{:ok, []}, "a tuple of 2"},
          {{:ok, ~D[2026-01-01]}, "a tuple of 2"},
          {"swordfish", "a binary"},
          {:error, ":error"}
        ] do
      error = assert_raise ArgumentError, fn -> Read.answer(wrong) end
      assert error.message =~ "from the reader of a resource, got #{kind}"
    end
  end

  test "prepare/1 encodes structs wherever they are" do
    date = ~D[2026-07-28]

    assert Outcome.prepare({:contents, [%{a: date}], %{b: date}, {1, nil}}) ==
             {:contents, [%{a: "2026-07-28"}], %{b: "2026-07-28"}, {1, nil}}

    assert Outcome.prepare({:safe_error, "m", date}) == {:safe_error, "m", "2026-07-28"}
  end
end
