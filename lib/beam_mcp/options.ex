defmodule BeamMCP.Options do
  @moduledoc """
  Checks options, fills in defaults and writes the documentation of both.

  What an option is stands in `BeamMCP.Options.Table`, one row for each. A wrong option raises
  `ArgumentError` with its path, the legal values and the value given, before any process or
  socket exists:

      iex> BeamMCP.Options.validate!(:stdio, max_line_bytes: 0)
      ** (ArgumentError) option max_line_bytes: expected an integer from 1,024 to 1,073,741,824, got: 0

      iex> BeamMCP.Options.validate!(:stdio, max_lines: 7)
      ** (ArgumentError) unknown option max_lines (did you mean max_line_bytes?); known options are: max_line_bytes, drain_timeout_ms, principal, scopes
  """

  alias BeamMCP.Options.{Table, Type}

  # From this likeness on, an unknown key is taken for a misspelt one.
  @near 0.85

  @typedoc "The name of a table."
  @type table ::
          :instance
          | :http
          | :tls
          | :oauth
          | :issuer
          | :introspection
          | :stdio
          | :session_ets
          | :session_mnesia
          | :staged_ets
          | :staged_mnesia
          | :task_ets
          | :task_mnesia
          | :replay_ets
          | :replay_mnesia
          | :test
          | :observed

  @doc """
  Returns the options of `table` as a map with every key present.

  `path` goes in front of each key in error messages, for example `"http[0]."`.

  Raises `ArgumentError` for an unknown key, a key given twice, a missing required key and an
  illegal value. The value of a secret option is never repeated.
  """
  @spec validate!(table(), keyword(), String.t()) :: map()
  def validate!(table, options, path \\ "") do
    rows = Table.rows(table)
    known!(options, Enum.map(rows, & &1.key), path, &elsewhere(table, &1))
    Map.new(rows, &{&1.key, value!(&1, options, path)})
  end

  @doc """
  The keys of `table`, in the order of its documentation.

      iex> BeamMCP.Options.keys(:stdio)
      [:max_line_bytes, :drain_timeout_ms, :principal, :scopes]
  """
  @spec keys(table()) :: [atom()]
  def keys(table), do: Enum.map(Table.rows(table), & &1.key)

  @doc """
  Returns `options` when they are a keyword list with only the keys `known`, each once.

  Raises `ArgumentError` with the key otherwise, never with its value.

      iex> BeamMCP.Options.only!([mine_type: "text/plain"], [:mime_type, :meta])
      ** (ArgumentError) unknown option mine_type (did you mean mime_type?); known options are: mime_type, meta
  """
  @spec only!(keyword(), [atom()], String.t()) :: keyword()
  def only!(options, known, path \\ ""), do: known!(options, known, path, fn _key -> nil end)

  defp known!(options, known, path, elsewhere) do
    unless Keyword.keyword?(options) do
      raise ArgumentError,
            "options#{at(path)} must be a keyword list, got: #{given(%{}, options)}"
    end

    given = Keyword.keys(options)

    for key <- given, key not in known do
      raise ArgumentError,
            "unknown option #{path}#{key}#{hint(elsewhere.(key) || nearest(key, known))}; " <>
              "known options are: #{Enum.join(known, ", ")}"
    end

    with [key | _rest] <- given -- Enum.uniq(given) do
      raise ArgumentError, "option #{path}#{key} is given twice"
    end

    options
  end

  # What belongs to a listener is easily given to its instance.
  defp elsewhere(:instance, key), do: if(key in keys(:http), do: "http: [#{key}: ..]")
  defp elsewhere(_table, _key), do: nil

  defp nearest(key, known) do
    written = Atom.to_string(key)
    near = Enum.max_by(known, &String.jaro_distance(written, Atom.to_string(&1)), fn -> nil end)
    if near && String.jaro_distance(written, Atom.to_string(near)) >= @near, do: near
  end

  defp hint(nil), do: ""
  defp hint(meant), do: " (did you mean #{meant}?)"

  @doc "The rows of `table` as a Markdown list: key, legal values, default, meaning."
  @spec docs(table()) :: String.t()
  def docs(table), do: Enum.map_join(Table.rows(table), "\n", &row_docs/1)

  defp row_docs(row) do
    "  * `:#{row.key}` - #{Type.legal(row.type)}; #{default_docs(row)}. #{row.doc}"
  end

  defp default_docs(%{default: :required}), do: "required"
  defp default_docs(%{default: {:described, text}}), do: "default: #{text}"
  defp default_docs(%{default: value}), do: "default: `#{inspect(value)}`"

  defp value!(row, options, path) do
    case Keyword.fetch(options, row.key) do
      {:ok, value} -> cast!(row, value, path)
      :error -> default!(row, path)
    end
  end

  defp cast!(row, value, path) do
    case Type.cast(row.type, value) do
      {:ok, cast} ->
        cast

      :error ->
        refuse!(row, path, "got: #{given(row, value)}")

      {:error, entry} ->
        refuse!(row, path, "got one with: #{given(row, entry)}")
    end
  end

  defp refuse!(row, path, got) do
    raise ArgumentError, "option #{path}#{row.key}: expected #{Type.legal(row.type)}, #{got}"
  end

  defp default!(%{default: :required} = row, path) do
    raise ArgumentError, "option #{path}#{row.key} is required: #{Type.legal(row.type)}"
  end

  defp default!(%{default: {:described, _text}}, _path), do: nil

  defp default!(row, _path) do
    {:ok, value} = Type.cast(row.type, row.default)
    value
  end

  defp given(%{secret: true}, _value), do: "a value that is not repeated here"
  # Options may lie in options that are wrong.
  defp given(_row, value) do
    [shown] = without_secrets([value])
    inspect(shown, limit: 10, printable_limit: 200)
  end

  defp without_secrets([{key, value} | rest]) when is_atom(key),
    do: [
      {key, if(secret?(key), do: :hidden, else: without_secrets(value))} | without_secrets(rest)
    ]

  defp without_secrets([first | rest]), do: [without_secrets(first) | without_secrets(rest)]

  defp without_secrets(tuple) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> without_secrets() |> List.to_tuple()

  defp without_secrets(map) when is_map(map) and not is_struct(map) do
    Map.new(map, fn {key, value} ->
      {key, if(is_atom(key) and secret?(key), do: :hidden, else: without_secrets(value))}
    end)
  end

  defp without_secrets(other), do: other

  defp secret?(key) do
    Enum.any?(Table.secretive(), fn table ->
      Enum.any?(Table.rows(table), &(&1.key == key and &1.secret))
    end)
  end

  defp at(""), do: ""
  defp at(path), do: " of " <> String.trim_trailing(path, ".")
end
