defmodule BeamMCP.OAuth.SourceTest do
  use ExUnit.Case, async: true

  alias BeamMCP.OAuth.Source

  doctest Source

  @source %Source{
    issuer: "https://a.example",
    keys: {:discover, "https://a.example"},
    allow_private?: false
  }

  test "a missing document leads to the next place, and after the last one nowhere" do
    {_first, source} = Source.first(@source)

    assert {:fetch, "https://a.example/.well-known/openid-configuration", source} =
             Source.next(source, {:ok, 404, nil, ""})

    assert {:error, :no_set, "it answered 404"} = Source.next(source, {:ok, 404, nil, ""})
  end

  test "an issuer that is down has said nothing of its keys" do
    {_first, source} = Source.first(@source)

    for outcome <- [{:ok, 429, nil, ""}, {:ok, 503, nil, ""}, {:error, "no answer"}] do
      assert {:error, :unreachable, _text} = Source.next(source, outcome)
    end
  end
end
