defmodule BeamMCP.Note do
  @moduledoc false
  # What this library writes into the sealed state of a round (MCP 2026-07-28 basic/patterns/mrtr),
  # beside what was asked and answered.

  @enforce_keys [:mark]
  defstruct [:mark, :thread, :place]

  @type t :: %__MODULE__{
          # Tells this round from every other.
          mark: String.t(),
          # Is the same in all rounds of one conversation, where somebody wants to know.
          thread: String.t() | nil,
          # Where the handler waits, see `BeamMCP.Parking`.
          place: {id :: String.t(), node :: String.t()} | nil
        }

  @doc "The note of a new round."
  @spec new(String.t() | nil, {String.t(), String.t()} | nil) :: t()
  def new(thread, place \\ nil), do: %__MODULE__{mark: random(), thread: thread, place: place}

  @doc "128 random bits in URL-safe Base64."
  @spec random() :: String.t()
  def random, do: Base.url_encode64(:crypto.strong_rand_bytes(16), padding: false)

  @spec encode(t()) :: String.t()
  def encode(%__MODULE__{mark: mark, thread: thread, place: place}) do
    {id, node} = place || {"", ""}
    Enum.join([mark, thread, id, node], " ")
  end

  @doc "Reads what `encode/1` wrote; it was sealed in between. Of another release it may be anything."
  @spec parse(String.t()) :: t() | nil
  def parse(text) do
    case String.split(text, " ") do
      [mark, thread, "", ""] ->
        %__MODULE__{mark: mark, thread: given(thread)}

      [mark, thread, id, node] ->
        %__MODULE__{mark: mark, thread: given(thread), place: {id, node}}

      _other ->
        nil
    end
  end

  defp given(""), do: nil
  defp given(text), do: text
end
