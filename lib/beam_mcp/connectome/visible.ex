defmodule BeamMCP.Connectome.Visible do
  @moduledoc false
  # Names as people are shown them. A graph may come from anywhere: what its names hold must not end
  # the line of a report, write over another one, or turn round what stands beside it (Unicode
  # Technical Report 36). Controls, format characters and line ends are written by their number, and
  # different names stay different.

  @doc ~S"""
  A name in one line of visible characters.

      iex> BeamMCP.Connectome.Visible.text("shop/tool/a\ndrift: 0\u202E")
      "shop/tool/a\\u{A}drift: 0\\u{202E}"
  """
  @spec text(String.t()) :: String.t()
  def text(text) do
    if String.valid?(text),
      do: Regex.replace(~r/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\\(?=u\{)/u, text, &numbered/1),
      else: inspect(text)
  end

  @doc "The same for every text of a map or a list, keys included."
  @spec term(term()) :: term()
  def term(text) when is_binary(text), do: text(text)
  def term(list) when is_list(list), do: Enum.map(list, &term/1)

  def term(map) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {term(key), term(value)} end)

  def term(other), do: other

  defp numbered(<<character::utf8>>), do: "\\u{#{Integer.to_string(character, 16)}}"
end
