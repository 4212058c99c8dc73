defmodule BeamMCP.Options.Row do
  @moduledoc false
  # One option of `BeamMCP.Options.Table`.

  alias BeamMCP.Options.Type

  @typedoc "One option. `default` may describe a value that is computed at start."
  @type t :: %{
          key: atom(),
          type: Type.t(),
          default: term() | :required | {:described, String.t()},
          doc: String.t(),
          secret: boolean()
        }

  @day_ms 86_400_000
  @gib 1_073_741_824

  @spec count(atom(), integer(), integer(), integer(), String.t()) :: t()
  def count(key, default, min, max, doc), do: row(key, {:integer, min, max}, default, doc)

  @doc "Milliseconds, a day at most."
  @spec time(atom(), integer(), integer(), String.t()) :: t()
  def time(key, default, min, doc), do: row(key, {:integer, min, @day_ms}, default, doc)

  @doc "Bytes, a gibibyte at most."
  @spec bytes(atom(), integer(), integer(), String.t()) :: t()
  def bytes(key, default, min, doc), do: row(key, {:integer, min, @gib}, default, doc)

  @spec row(atom(), Type.t(), term(), String.t(), keyword()) :: t()
  def row(key, type, default, doc, opts \\ []) do
    %{
      key: key,
      type: type,
      default: default,
      doc: doc <> ".",
      secret: Keyword.get(opts, :secret, false)
    }
  end
end
