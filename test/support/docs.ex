defmodule BeamMCP.Test.Docs do
  @moduledoc "Reads the project's documents, so that tests can run what they show."

  alias BeamMCP.Options.{Table, Type}

  defmodule Block do
    @moduledoc "A fenced block: its language, its text, and where it stands."
    defstruct [:file, :line, :language, :text]

    @type t :: %__MODULE__{
            file: Path.t(),
            line: pos_integer(),
            language: String.t(),
            text: String.t()
          }
  end

  @root Path.expand("../..", __DIR__)

  @doc "The documents, relative to the project."
  @spec files() :: [Path.t()]
  def files do
    ["README.md" | @root |> Path.join("docs/**/*.md") |> Path.wildcard()]
    |> Enum.map(&Path.relative_to(&1, @root))
  end

  @doc "Those that are guides: their blocks follow one another."
  @spec guides() :: [Path.t()]
  def guides,
    do: Enum.filter(files(), &String.starts_with?(&1, ["docs/guides/", "docs/connectome"]))

  @doc "A path of the project."
  @spec path(Path.t()) :: Path.t()
  def path(relative), do: Path.join(@root, relative)

  @doc "The fenced blocks of a document, in order."
  @spec blocks(Path.t()) :: [Block.t()]
  def blocks(file) do
    file |> lines() |> Enum.with_index(1) |> fenced(file, [])
  end

  @doc "The fenced blocks of a document in these languages, in order."
  @spec blocks(Path.t(), [String.t()]) :: [Block.t()]
  def blocks(file, languages), do: Enum.filter(blocks(file), &(&1.language in languages))

  @doc "The fenced blocks of a document that are Elixir expressions, in order."
  @spec expressions(Path.t()) :: [Block.t()]
  def expressions(file),
    do: Enum.filter(blocks(file, ["elixir"]), &BeamMCP.Test.DocsCode.expression?/1)

  @doc "The text between `<!-- name -->` and `<!-- /name -->`."
  @spec between(Path.t(), String.t()) :: String.t()
  def between(file, name) do
    case Regex.run(~r/^<!-- #{name} -->\n(.*?)^<!-- \/#{name} -->$/ms, File.read!(path(file))) do
      [_all, text] -> text
      nil -> raise "#{file} has no text between the markers #{name}"
    end
  end

  @doc "The cells of a table's rows, without its head."
  @spec cells(String.t()) :: [[String.t()]]
  def cells(table) do
    for "| " <> row <- table |> String.split("\n") |> Enum.drop(2) do
      row |> String.trim_trailing(" |") |> String.split(" | ")
    end
  end

  @doc "The text of a code span."
  @spec code(String.t()) :: String.t()
  def code(span), do: String.trim(span, "`")

  @doc "The targets of a document's links."
  @spec links(Path.t()) :: [String.t()]
  def links(file), do: for([_all, link] <- Regex.scan(~r/\]\(([^)\s]+)\)/, prose(file)), do: link)

  @doc "The anchors of a document's headings."
  @spec anchors(Path.t()) :: [String.t()]
  def anchors(file) do
    for [_all, heading] <- Regex.scan(~r/^#+ (.+)$/m, prose(file)) do
      heading
      |> String.downcase()
      |> String.replace(~r/[^\w\s-]/u, "")
      |> String.replace(" ", "-")
    end
  end

  @doc """
  The paths, modules and functions of this project that a document names in code spans.

  The first column of a table whose head says "there" holds names of other projects.
  """
  @spec names(Path.t()) :: [
          {:path, Path.t()} | {:module, module()} | {:function, module(), atom(), arity()}
        ]
  def names(file) do
    for [_all, code] <- Regex.scan(~r/`([^`\n]+)`/, ours(prose(file))),
        name = name(code),
        do: name
  end

  @doc "The options of a table as the rows that `docs/configuration.md` shows."
  @spec options(BeamMCP.Options.table()) :: String.t()
  def options(table) do
    rows = for row <- Table.rows(table), do: option(row)

    Enum.join(
      ["| option | legal values | default | meaning |\n|---|---|---|---|\n" | rows],
      ""
    )
  end

  defp option(row) do
    "| `#{row.key}` | #{Type.legal(row.type)} | #{default(row.default)} | #{row.doc} |\n"
  end

  defp default(:required), do: "required"
  defp default({:described, text}), do: text
  defp default(value), do: "`#{inspect(value)}`"

  defp name(code) do
    cond do
      code =~ ~r{^(bench|bin|docs|examples|lib|native|test|\.ci)/[\w./-]+$} ->
        {:path, code}

      code =~ ~r/^BeamMCP(\.[A-Z]\w*)*$/ ->
        {:module, Module.concat([code])}

      function = Regex.run(~r/^(BeamMCP(?:\.[A-Z]\w*)*)\.([a-z_]+[?!]?)\/(\d)$/, code) ->
        [_all, module, name, arity] = function
        {:function, Module.concat([module]), String.to_atom(name), String.to_integer(arity)}

      true ->
        nil
    end
  end

  # Without the first column of tables whose head says "there".
  defp ours(text) do
    Regex.replace(~r/^\| there .*\n(\|.*\n)+/m, text, fn table, _last ->
      Regex.replace(~r/^\|.*? \|/m, table, "|")
    end)
  end

  defp prose(file), do: Regex.replace(~r/^```.*?^```$/ms, File.read!(path(file)), "")

  defp lines(file), do: file |> path() |> File.read!() |> String.split("\n")

  defp fenced([], _file, blocks), do: Enum.reverse(blocks)

  defp fenced([{"```" <> language, line} | rest], file, blocks) do
    {inside, [_fence | rest]} = Enum.split_while(rest, fn {text, _line} -> text != "```" end)
    text = Enum.map_join(inside, fn {text, _line} -> text <> "\n" end)
    fenced(rest, file, [%Block{file: file, line: line, language: language, text: text} | blocks])
  end

  defp fenced([_prose | rest], file, blocks), do: fenced(rest, file, blocks)
end
