defmodule Everything.Media do
  @moduledoc "A picture, a sound and a document, as content blocks."

  alias BeamMCP.Content

  # One red pixel.
  @png Base.decode64!(
         "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
       )

  # A mono wave file of 8,000 samples a second, 8 bits each: eight samples of silence.
  @wav "RIFF" <>
         <<44::little-32>> <>
         "WAVEfmt " <>
         <<16::little-32, 1::little-16, 1::little-16, 8_000::little-32, 8_000::little-32,
           1::little-16,
           8::little-16>> <>
         "data" <> <<8::little-32>> <> :binary.copy(<<128>>, 8)

  @doc "The bytes of the picture."
  @spec png() :: binary()
  def png, do: @png

  @doc "The picture."
  @spec image() :: Content.block()
  def image, do: Content.image(@png, "image/png")

  @doc "The sound."
  @spec audio() :: Content.block()
  def audio, do: Content.audio(@wav, "audio/wav")

  @doc "A document that travels inside a result."
  @spec document(String.t(), String.t(), String.t()) :: Content.block()
  def document(uri, mime_type, text) do
    uri |> Content.resource_text(text, mime_type: mime_type) |> Content.embedded_resource()
  end
end
