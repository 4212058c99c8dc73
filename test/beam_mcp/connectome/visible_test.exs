defmodule BeamMCP.Connectome.VisibleTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome.Visible

  doctest Visible

  test "letters of every script and their marks stay" do
    for text <- ["größe", "שלום", "サーバー", "a\u0308", "😀", "back\\slash"],
        do: assert(Visible.text(text) == text)
  end

  test "what moves, hides or ends a line does not" do
    for character <- ~w(0 7 9 A D 1B 7F 85 9B AD 61C 200B 200E 2028 2029 202E 2066 FEFF E0041) do
      text = <<String.to_integer(character, 16)::utf8>>
      assert Visible.text("a" <> text) == "a\\u{#{character}}"
    end
  end

  test "different names stay different" do
    names = ["\n", "\\u{A}", "\\\\u{A}", "\\u{5C}u{A}", "\\\n"]
    assert names |> Enum.map(&Visible.text/1) |> Enum.uniq() |> length() == length(names)
  end

  test "what is no UTF-8 is shown as its bytes" do
    assert Visible.text("a" <> <<255>>) == "<<97, 255>>"
  end
end
