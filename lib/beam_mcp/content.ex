defmodule BeamMCP.Content do
  @moduledoc """
  Makes content blocks, contents of resources and messages of prompts.

      iex> BeamMCP.Content.text("21 degrees")
      %{"type" => "text", "text" => "21 degrees"}

      iex> BeamMCP.Content.image(<<137, 80>>, "image/png", annotations: [audience: [:user]])
      %{
        "type" => "image",
        "data" => {:bytes, <<137, 80>>},
        "mimeType" => "image/png",
        "annotations" => %{"audience" => ["user"]}
      }

  Data is either a binary, which is raw bytes, or `{:base64, text}`, which is encoded already.
  Raw bytes become Base64 in the native library, large ones off the schedulers.

  Options that every block takes: `:annotations` (see `BeamMCP.Annotations`) and `:meta` (a map,
  the block's `_meta`). An unknown option, an option given twice and an argument of another type
  raise `ArgumentError` here, where the mistake is.

  Handlers may also write such maps themselves, with atom or string keys; they are checked all the
  same when the answer is encoded. There, `data` and `blob` are Base64 text, `{:bytes, binary}` or
  `{:base64, text}`.

  MCP 2026-07-28 server/tools, server/resources and server/prompts.
  """

  alias BeamMCP.{Annotations, Icon, Kind, Options}

  @typedoc "A content block, as it goes to the native library."
  @type block :: %{String.t() => term()}

  @typedoc "What a read returns: text or a blob under a URI."
  @type contents :: %{String.t() => term()}

  @typedoc "A message of a prompt."
  @type message :: %{String.t() => term()}

  @typedoc "Raw bytes, or Base64 text."
  @type data :: binary() | {:base64, String.t()}

  @block [:annotations, :meta]

  @doc "A text block."
  @spec text(String.t(), keyword()) :: block()
  def text(text, options \\ []) do
    block("text", [{"text", utf8!(text, "a text")}], options!(options, @block))
  end

  @doc "A picture of the given MIME type."
  @spec image(data(), String.t(), keyword()) :: block()
  def image(data, mime_type, options \\ []), do: media("image", data, mime_type, options)

  @doc "A sound of the given MIME type."
  @spec audio(data(), String.t(), keyword()) :: block()
  def audio(data, mime_type, options \\ []), do: media("audio", data, mime_type, options)

  @doc """
  A link to a resource, which need not be in the catalog.

  Options beside those of every block: `:title`, `:description`, `:mime_type`, `:size`, `:icons`.
  """
  @spec resource_link(String.t(), String.t(), keyword()) :: block()
  def resource_link(uri, name, options \\ []) do
    options = options!(options, @block ++ [:title, :description, :mime_type, :size, :icons])
    block("resource_link", [{"uri", uri!(uri)}, {"name", utf8!(name, "a name")}], options)
  end

  @doc """
  A resource that travels inside a result: what `resource_text/3` or `resource_blob/3` made.

      iex> BeamMCP.Content.embedded_resource(BeamMCP.Content.resource_text("notes:1", "Milk"))
      %{"type" => "resource", "resource" => %{"uri" => "notes:1", "text" => "Milk"}}
  """
  @spec embedded_resource(contents(), keyword()) :: block()
  def embedded_resource(contents, options \\ [])

  def embedded_resource(contents, options) when is_map(contents) and not is_struct(contents) do
    block("resource", [{"resource", contents}], options!(options, @block))
  end

  def embedded_resource(other, _options) do
    raise ArgumentError, "expected the contents of a resource, got: #{Kind.of(other)}"
  end

  @doc "Contents that are text. Options: `:mime_type`, `:meta`."
  @spec resource_text(String.t(), String.t(), keyword()) :: contents()
  def resource_text(uri, text, options \\ []) do
    contents(uri, {"text", utf8!(text, "a text")}, options)
  end

  @doc "Contents that are bytes. Options: `:mime_type`, `:meta`."
  @spec resource_blob(String.t(), data(), keyword()) :: contents()
  def resource_blob(uri, data, options \\ []), do: contents(uri, {"blob", data!(data)}, options)

  @doc """
  A message of a prompt: who says it, and one block or a text.

      iex> BeamMCP.Content.prompt_message(:user, "Review this.")
      %{"role" => "user", "content" => %{"type" => "text", "text" => "Review this."}}
  """
  @spec prompt_message(:user | :assistant, block() | String.t()) :: message()
  def prompt_message(role, text) when is_binary(text), do: prompt_message(role, text(text))

  def prompt_message(role, block)
      when role in [:user, :assistant] and is_map(block) and not is_struct(block) do
    %{"role" => Atom.to_string(role), "content" => block}
  end

  def prompt_message(role, _block) when role not in [:user, :assistant] do
    raise ArgumentError, "expected the role :user or :assistant, got: #{Kind.of(role)}"
  end

  def prompt_message(_role, other) do
    raise ArgumentError, "expected one content block or a text, got: #{Kind.of(other)}"
  end

  defp media(type, data, mime_type, options) do
    members = [{"data", data!(data)}, {"mimeType", utf8!(mime_type, "a MIME type")}]
    block(type, members, options!(options, @block))
  end

  defp contents(uri, member, options) do
    members = [{"uri", uri!(uri)}, member]
    Map.new(members ++ options!(options, [:mime_type, :meta]))
  end

  defp block(type, members, options), do: Map.new([{"type", type} | members] ++ options)

  defp options!(options, known), do: options |> Options.only!(known) |> Enum.map(&option!/1)

  defp option!({:annotations, annotations}) do
    case Annotations.read(annotations) do
      {:ok, map} when is_map(map) -> {"annotations", map}
      {:ok, nil} -> refuse!("annotations", "must be a map or a keyword list")
      {:error, [{place, text} | _more]} -> refuse!("annotations#{place}", text)
    end
  end

  defp option!({:meta, meta}) when is_map(meta) and not is_struct(meta), do: {"_meta", meta}
  defp option!({:meta, _other}), do: refuse!("meta", "must be a map")
  defp option!({:size, size}) when is_integer(size) and size >= 0, do: {"size", size}
  defp option!({:size, _other}), do: refuse!("size", "must be a number of bytes")

  defp option!({:icons, icons}) do
    case Icon.faults(icons) do
      [] -> {"icons", icons}
      [{place, text} | _more] -> refuse!("icons#{place}", text)
    end
  end

  defp option!({:mime_type, text}), do: {"mimeType", utf8!(text, "a MIME type")}
  defp option!({key, text}), do: {Atom.to_string(key), utf8!(text, "a #{key}")}

  defp data!(bytes) when is_binary(bytes), do: {:bytes, bytes}
  defp data!({:base64, text} = encoded) when is_binary(text), do: encoded

  defp data!(other) do
    raise ArgumentError, "expected a binary or {:base64, text}, got: #{Kind.of(other)}"
  end

  defp uri!(uri), do: utf8!(uri, "a URI")

  defp utf8!(text, what) do
    if is_binary(text) and String.valid?(text),
      do: text,
      else: raise(ArgumentError, "expected #{what} in UTF-8, got: #{Kind.of(text)}")
  end

  defp refuse!(option, text), do: raise(ArgumentError, "option #{option} #{text}")
end
