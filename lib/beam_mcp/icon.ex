defmodule BeamMCP.Icon do
  @moduledoc false
  # Icons of the server and of definitions (`MCP 2025-11-25` and later, `Icon`).

  @doc "What is wrong with a list of icons, as `{place, message}`."
  @spec faults(term()) :: [{String.t(), String.t()}]
  def faults(icons) when is_list(icons) do
    for {icon, index} <- Enum.with_index(icons), {place, text} <- icon_faults(icon) do
      {"[#{index}]#{place}", text}
    end
  end

  def faults(_other), do: [{"", "must be a list of maps"}]

  defp icon_faults(icon) when is_map(icon) do
    icon =
      for {key, value} <- icon,
          is_atom(key) or is_binary(key),
          into: %{},
          do: {to_string(key), value}

    Enum.reject(
      [
        fault(src?(icon["src"]), ".src", "must be an http:, https: or data: URI"),
        fault(optional?(icon["mimeType"], &is_binary/1), ".mimeType", "must be a string"),
        fault(
          optional?(icon["sizes"], &sizes?/1),
          ".sizes",
          ~s(must be a list of "WxH" or "any")
        ),
        fault(icon["theme"] in [nil, "light", "dark"], ".theme", ~s(must be "light" or "dark"))
      ],
      &is_nil/1
    )
  end

  defp icon_faults(_other), do: [{"", "must be a map"}]

  defp fault(true, _place, _text), do: nil
  defp fault(false, place, text), do: {place, text}

  defp src?(text), do: is_binary(text) and text =~ ~r{\A(https?://|data:)}

  defp optional?(nil, _check), do: true
  defp optional?(value, check), do: check.(value)

  defp sizes?(sizes),
    do: is_list(sizes) and Enum.all?(sizes, &(is_binary(&1) and &1 =~ ~r/\A(any|\d+x\d+)\z/))
end
