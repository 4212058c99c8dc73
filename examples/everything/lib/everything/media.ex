defmodule Everything.Media do
  @moduledoc "Content blocks: a text, a picture, a sound and a document."

  # One red pixel.
  @png "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

  # A mono wave file of 8,000 samples a second, 8 bits each: eight samples of silence.
  @wav Base.encode64(
         "RIFF" <>
           <<44::little-32>> <>
           "WAVEfmt " <>
           <<16::little-32, 1::little-16, 1::little-16, 8_000::little-32, 8_000::little-32,
             1::little-16,
             8::little-16>> <>
           "data" <> <<8::little-32>> <> :binary.copy(<<128>>, 8)
       )

  @doc "A text block."
  @spec text(String.t()) :: map()
  def text(text), do: %{type: "text", text: text}

  @doc "A picture, as Base64."
  @spec image() :: map()
  def image, do: %{type: "image", data: @png, mimeType: "image/png"}

  @doc "A sound, as Base64."
  @spec audio() :: map()
  def audio, do: %{type: "audio", data: @wav, mimeType: "audio/wav"}

  @doc "A document that travels inside the result."
  @spec resource(String.t(), String.t(), String.t()) :: map()
  def resource(uri, mime_type, text) do
    %{type: "resource", resource: %{uri: uri, mimeType: mime_type, text: text}}
  end
end
