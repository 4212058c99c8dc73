defmodule BeamMCP.Catalog.Definition.CompletionTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Catalog.Definition.Completion

  @host %{serves: [], public_cache?: false, keys: :atoms}

  defp read(ref, handler \\ []),
    do: Definition.read(:completion, {ref, handler}, "registrations[0]", @host)

  test "is for every argument, or for one" do
    for {ref, key} <- [
          {{:prompt, :review}, {{:prompt, "review"}, nil}},
          {{:prompt, "review", :code}, {{:prompt, "review"}, "code"}},
          {{:resource, "a:{b}"}, {{:template, "a:{b}"}, nil}},
          {{:resource, "a:{b}", "b"}, {{:template, "a:{b}"}, "b"}}
        ] do
      {owner, argument} = key
      assert {:ok, [%{kind: :completion, key: ^key, native: native}]} = read(ref)
      assert native == %{ref: owner, argument: argument}
      assert Definition.id(:completion, ref) == {:ok, {:completion, key}}
    end
  end

  test "of another form is refused" do
    for ref <- ["review", {:tool, "a"}, {:prompt}, {:prompt, "a", "b", "c"}, nil] do
      assert {:error, [%{definition: "registrations[0]", place: "value"}]} = read(ref)
      assert Definition.id(:completion, ref) == :error
    end

    assert {:error, [%{place: "ref"}]} = read({:prompt, 7})
    assert {:error, [%{definition: "a b", place: "handler"}]} = read({:prompt, "a", "b"}, 7)
  end

  test "a list offers those that begin with the value, in its order" do
    assert {:ok, [%{handler: {:mfa, Completion, :beginning, [values], 1}}]} =
             read({:prompt, "a"}, ["Elixir", "erlang", "gleam"])

    assert Completion.beginning(%{value: "e"}, values) == {:ok, ["Elixir", "erlang"]}
    assert Completion.beginning(%{value: ""}, values) == {:ok, values}
    assert Completion.beginning(%{value: "x"}, values) == {:ok, []}
  end
end
