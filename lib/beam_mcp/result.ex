defmodule BeamMCP.Result do
  @moduledoc """
  A tool's result in full, for hosts that choose its content blocks themselves.

    * `content` - content blocks as maps, for example `%{"type" => "text", "text" => "..."}`
    * `structured_content` - any term that JSON can say; `:none` leaves it out, `nil` is `null`
    * `error?` - whether the tool failed (`isError`)
    * `meta` - the result's `_meta`, a map, or `nil`

  MCP 2026-07-28 server/tools.
  """

  defstruct content: [], structured_content: :none, error?: false, meta: nil

  @typedoc "A tool's result."
  @type t :: %__MODULE__{
          content: [map()],
          structured_content: :none | term(),
          error?: boolean(),
          meta: map() | nil
        }

  @doc """
  A result of one text block. Options: `:structured_content`, `:meta`.

      iex> BeamMCP.Result.text("21 degrees", structured_content: %{celsius: 21})
      %BeamMCP.Result{content: [%{"type" => "text", "text" => "21 degrees"}], structured_content: %{celsius: 21}}
  """
  @spec text(String.t(), keyword()) :: t()
  def text(text, options \\ []) when is_binary(text), do: new(text, false, options)

  @doc """
  A failure that the caller is shown, so that a model can act on it. Options as for `text/2`.

      iex> BeamMCP.Result.error("no such city").error?
      true
  """
  @spec error(String.t(), keyword()) :: t()
  def error(text, options \\ []) when is_binary(text), do: new(text, true, options)

  defp new(text, error?, options) do
    options = Keyword.validate!(options, structured_content: :none, meta: nil)
    struct!(%__MODULE__{content: [%{"type" => "text", "text" => text}], error?: error?}, options)
  end
end
