defmodule BeamMCP.Test.Json do
  @moduledoc false
  # Reads JSON text, for tests only: the library itself parses in Rust, and the floor has no JSON module.

  @spec decode!(binary()) :: term()
  def decode!(text) do
    {value, rest} = value(skip(text))
    "" = skip(rest)
    value
  end

  defp value("null" <> rest), do: {nil, rest}
  defp value("true" <> rest), do: {true, rest}
  defp value("false" <> rest), do: {false, rest}
  defp value("\"" <> rest), do: string(rest, [])
  defp value("[" <> rest), do: array(skip(rest), [])
  defp value("{" <> rest), do: object(skip(rest), %{})
  defp value(number), do: number(number)

  defp array("]" <> rest, items), do: {Enum.reverse(items), rest}

  defp array(text, items) do
    {item, rest} = value(text)

    case skip(rest) do
      "," <> rest -> array(skip(rest), [item | items])
      "]" <> rest -> {Enum.reverse([item | items]), rest}
    end
  end

  defp object("}" <> rest, members), do: {members, rest}

  defp object("\"" <> rest, members) do
    {key, rest} = string(rest, [])
    ":" <> rest = skip(rest)
    {value, rest} = value(skip(rest))
    false = is_map_key(members, key)

    case skip(rest) do
      "," <> rest -> object(skip(rest), Map.put(members, key, value))
      "}" <> rest -> {Map.put(members, key, value), rest}
    end
  end

  defp string("\"" <> rest, parts), do: {IO.iodata_to_binary(Enum.reverse(parts)), rest}

  defp string("\\u" <> <<hex::binary-size(4), rest::binary>>, parts) do
    case {String.to_integer(hex, 16), rest} do
      {high, "\\u" <> <<low::binary-size(4), rest::binary>>} when high in 0xD800..0xDBFF ->
        low = String.to_integer(low, 16)
        string(rest, [<<0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00::utf8>> | parts])

      {char, rest} ->
        string(rest, [<<char::utf8>> | parts])
    end
  end

  defp string(<<"\\", escaped, rest::binary>>, parts) do
    string(rest, [unescape(escaped) | parts])
  end

  defp string(text, parts) do
    length = plain_length(text, 0)
    rest = binary_part(text, length, byte_size(text) - length)
    string(rest, [binary_part(text, 0, length) | parts])
  end

  defp plain_length(<<char, rest::binary>>, length) when char not in [?", ?\\] do
    plain_length(rest, length + 1)
  end

  defp plain_length(_rest, length) when length > 0, do: length

  defp unescape(?n), do: "\n"
  defp unescape(?t), do: "\t"
  defp unescape(?r), do: "\r"
  defp unescape(?b), do: "\b"
  defp unescape(?f), do: "\f"
  defp unescape(char) when char in [?", ?\\, ?/], do: <<char>>

  defp number(text) do
    [digits] = Regex.run(~r/\A-?\d+(\.\d+)?([eE][+-]?\d+)?/, text, capture: :first)
    rest = binary_part(text, byte_size(digits), byte_size(text) - byte_size(digits))

    case Integer.parse(digits) do
      {integer, ""} -> {integer, rest}
      _fraction -> {elem(Float.parse(digits), 0), rest}
    end
  end

  defp skip(<<space, rest::binary>>) when space in [?\s, ?\t, ?\r, ?\n], do: skip(rest)
  defp skip(rest), do: rest
end
