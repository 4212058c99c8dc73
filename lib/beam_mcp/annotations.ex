defmodule BeamMCP.Annotations do
  @moduledoc """
  For whom a resource or a content block is, and how much it matters (`Annotations`, all
  revisions).

    * `audience` - a list of `:user` and `:assistant`
    * `priority` - 0 (may be left out) to 1 (needed)
    * `last_modified` - ISO 8601 text or a `DateTime`

  Written as a keyword list or a map, with these keys or those of the protocol (`lastModified`).
  Other keys of a map are served as they are; a keyword list may have none.
  """

  @typedoc "What a host writes."
  @type declared :: keyword() | map()

  @keys [audience: "audience", priority: "priority", last_modified: "lastModified"]

  @doc """
  The map that is served, or what is wrong, as `{place, message}`.

      iex> BeamMCP.Annotations.read(audience: [:user], last_modified: ~U[2026-07-28 12:00:00Z])
      {:ok, %{"audience" => ["user"], "lastModified" => "2026-07-28T12:00:00Z"}}

      iex> BeamMCP.Annotations.read(priority: 2)
      {:error, [{".priority", "must be a number from 0 to 1"}]}
  """
  @spec read(term()) :: {:ok, map() | nil} | {:error, [{String.t(), String.t()}]}
  def read(nil), do: {:ok, nil}

  def read(annotations) do
    case pairs(annotations) do
      {:ok, pairs} -> checked(pairs, Enum.map(pairs, &elem(&1, 0)))
      :error -> {:error, [{"", "must be a map or a keyword list of #{keys()}"}]}
    end
  end

  defp pairs(map) when is_map(map) and not is_struct(map) do
    if Enum.all?(map, fn {key, _value} -> is_atom(key) or is_binary(key) end),
      do: {:ok, for({key, value} <- map, do: {wire(key), value})},
      else: :error
  end

  defp pairs(list) when is_list(list) do
    if Keyword.keyword?(list) and Enum.all?(list, fn {key, _} -> key in Keyword.keys(@keys) end),
      do: {:ok, for({key, value} <- list, do: {wire(key), value})},
      else: :error
  end

  defp pairs(_other), do: :error

  defp wire(key) when is_binary(key), do: key
  defp wire(key), do: Keyword.get(@keys, key, Atom.to_string(key))

  defp checked(pairs, keys) do
    twice = for key <- Enum.uniq(keys -- Enum.uniq(keys)), do: {"." <> key, "is given twice"}
    values = for {key, value} <- pairs, do: {key, value(key, value)}

    case twice ++ for({key, {:error, text}} <- values, do: {"." <> key, text}) do
      [] -> {:ok, Map.new(values, fn {key, {:ok, value}} -> {key, value} end)}
      faults -> {:error, faults}
    end
  end

  defp value("audience", roles) when is_list(roles) do
    if Enum.all?(roles, &(&1 in [:user, :assistant, "user", "assistant"])),
      do: {:ok, Enum.map(roles, &to_string/1)},
      else: audience()
  end

  defp value("audience", _other), do: audience()

  defp value("priority", number) when is_number(number) and number >= 0 and number <= 1,
    do: {:ok, number}

  defp value("priority", _other), do: {:error, "must be a number from 0 to 1"}
  defp value("lastModified", %DateTime{} = time), do: {:ok, DateTime.to_iso8601(time)}

  defp value("lastModified", text) when is_binary(text) do
    if text =~ ~r/\A\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?\z/,
      do: {:ok, text},
      else: last_modified()
  end

  defp value("lastModified", _other), do: last_modified()
  defp value(_extension, value), do: {:ok, value}

  defp audience, do: {:error, "must be a list of :user and :assistant"}
  defp last_modified, do: {:error, "must be ISO 8601 text or a DateTime"}

  defp keys, do: Enum.map_join(@keys, ", ", fn {key, _wire} -> Atom.to_string(key) end)
end
