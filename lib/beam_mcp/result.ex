defmodule BeamMCP.Result do
  @moduledoc """
  What handlers return when a plain value does not say it all.

  The struct is a tool's result:

    * `content` - content blocks, from `BeamMCP.Content` or as maps, for example
      `%{"type" => "text", "text" => "..."}`
    * `structured_content` - any term that JSON can say; `:none` leaves it out, `nil` is `null`
    * `error?` - whether the tool failed (`isError`)
    * `meta` - the result's `_meta`, a map, or `nil`

  The other kinds have structs of their own: `BeamMCP.Result.Resource`, `BeamMCP.Result.Prompt`,
  `BeamMCP.Result.Completion` and, for a failure that the caller may read, whatever was asked,
  `BeamMCP.Result.SafeError`. The functions here make them; an unknown option raises
  `ArgumentError`.

  MCP 2026-07-28 server/tools, server/resources, server/prompts, server/utilities/completion.
  """

  alias BeamMCP.{Content, Kind, Options}
  alias BeamMCP.Result.{Completion, Prompt, Resource, SafeError}

  defstruct content: [], structured_content: :none, error?: false, meta: nil

  @typedoc "A tool's result."
  @type t :: %__MODULE__{
          content: [map()],
          structured_content: :none | term(),
          error?: boolean(),
          meta: map() | nil
        }

  @doc """
  A tool's result of one block or several. Options: `:structured_content`, `:meta`, `:error?`.

      iex> BeamMCP.Result.tool(BeamMCP.Content.text("saved"), structured_content: %{id: 7})
      %BeamMCP.Result{
        content: [%{"type" => "text", "text" => "saved"}],
        structured_content: %{id: 7}
      }
  """
  @spec tool(Content.block() | [Content.block()], keyword()) :: t()
  def tool(content, options \\ []) do
    options = Options.only!(options, [:structured_content, :meta, :error?])
    struct!(%__MODULE__{content: maps!(content, "content blocks")}, options)
  end

  @doc """
  A tool's result of one text block. Options: `:structured_content`, `:meta`.

      iex> BeamMCP.Result.text("21 degrees", structured_content: %{celsius: 21})
      %BeamMCP.Result{content: [%{"type" => "text", "text" => "21 degrees"}], structured_content: %{celsius: 21}}
  """
  @spec text(String.t(), keyword()) :: t()
  def text(text, options \\ []) when is_binary(text) do
    tool(Content.text(text), Options.only!(options, [:structured_content, :meta]))
  end

  @doc """
  A tool's failure that the caller is shown, so that a model can act on it. Options as for
  `text/2`.

      iex> BeamMCP.Result.error("no such city").error?
      true
  """
  @spec error(String.t(), keyword()) :: t()
  def error(text, options \\ []) when is_binary(text), do: %{text(text, options) | error?: true}

  @doc """
  What a read returns: the contents made by `BeamMCP.Content.resource_text/3` and
  `BeamMCP.Content.resource_blob/3`, one or several.

  Options: `:meta`; `:cache_ttl_ms` and `:cache_scope` (`:private` or `:public`), in place of the
  definition's.
  """
  @spec resource(Content.contents() | [Content.contents()], keyword()) :: Resource.t()
  def resource(contents, options \\ []) do
    options = Options.only!(options, [:meta, :cache_ttl_ms, :cache_scope])
    struct!(%Resource{contents: maps!(contents, "contents")}, options)
  end

  @doc """
  What a prompt returns: messages made by `BeamMCP.Content.prompt_message/2`, one or several.
  Options: `:description`, `:meta`.
  """
  @spec prompt(Content.message() | [Content.message()], keyword()) :: Prompt.t()
  def prompt(messages, options \\ []) do
    options = Options.only!(options, [:description, :meta])
    struct!(%Prompt{messages: maps!(messages, "messages")}, options)
  end

  @doc """
  Values that complete an argument, best first. Options: `:total` (how many there are),
  `:has_more`.

  Of more than 100 the first 100 are sent, and the caller is told that there are more.
  """
  @spec completion([String.t()], keyword()) :: Completion.t()
  def completion(values, options \\ [])

  def completion(values, options) when is_list(values) do
    struct!(%Completion{values: values}, Options.only!(options, [:total, :has_more]))
  end

  def completion(other, _options) do
    raise ArgumentError, "expected a list of strings, got: #{Kind.of(other)}"
  end

  @doc """
  A failure whose text is safe to show to the caller. Option: `:data`, a term that JSON can say.

  Return it as `{:error, error}`. A tool answers it with `isError`, the other kinds with -32603
  and this text.

      iex> BeamMCP.Result.safe_error("the account is read-only", data: %{account: 7})
      %BeamMCP.Result.SafeError{message: "the account is read-only", data: %{account: 7}}
  """
  @spec safe_error(String.t(), keyword()) :: SafeError.t()
  def safe_error(message, options \\ []) when is_binary(message) do
    struct!(%SafeError{message: message}, Options.only!(options, [:data]))
  end

  defp maps!(map, what) when is_map(map), do: maps!([map], what)

  defp maps!(list, what) when is_list(list) do
    case Enum.reject(list, &(is_map(&1) and not is_struct(&1))) do
      [] -> list
      [other | _more] -> raise ArgumentError, "expected #{what}, got: #{Kind.of(other)}"
    end
  end

  defp maps!(other, what), do: raise(ArgumentError, "expected #{what}, got: #{Kind.of(other)}")
end
