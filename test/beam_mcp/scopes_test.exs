defmodule BeamMCP.ScopesTest do
  use ExUnit.Case, async: true
  doctest BeamMCP.Scopes

  alias BeamMCP.{PromptSpec, ResourceSpec, Scopes, Test, ToolSpec}

  test "its scopes are those that methods need" do
    done = fn _asked -> {:ok, ""} end

    registrations = [
      {:tool, %ToolSpec{name: "one"}, done},
      {:resource, %ResourceSpec{uri: "test://one", name: "one"}, done},
      {:prompt, %PromptSpec{name: "one"}, done}
    ]

    client = Test.start!([registrations: registrations], scopes: [])

    needed =
      for method <- ["tools/list", "tools/call", "resources/list", "prompts/list"] do
        {:error, %{data: %{"requiredScopes" => [scope]}}} = Test.request(client, method)
        scope
      end

    assert needed == Scopes.all()
  end

  test "a circle ends" do
    assert Scopes.expand(["a"], %{"a" => ["b"], "b" => ["a"]}) == ["a", "b"]
  end
end
