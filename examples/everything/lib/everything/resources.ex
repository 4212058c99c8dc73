defmodule Everything.Resources do
  @moduledoc "What the resources hold. Each read runs in a process of its own."

  alias BeamMCP.{Content, Context, Result}
  alias Everything.Media

  @doc "Reads the resources that have no handler of their own."
  @spec read(String.t(), Context.t()) :: {:ok, String.t()} | Result.Resource.t()

  # A binary becomes text, of the MIME type that the definition names.
  def read("test://static-text", _context) do
    {:ok, "This is the content of the static text resource."}
  end

  # Bytes say so; the native library makes Base64 of them.
  def read("test://static-binary" = uri, _context) do
    uri |> Content.resource_blob(Media.png()) |> Result.resource()
  end

  @doc "The handler of one resource."
  @spec time(map()) :: {:ok, String.t()}
  def time(%{uri: "test://watched-resource"}), do: {:ok, Time.to_iso8601(Time.utc_now())}

  @doc "The handler of a template gets the variables of the URI that is read."
  @spec data(map()) :: {:ok, String.t()}
  def data(%{params: %{"id" => id}}), do: BeamMCP.Native.encode(%{id: id, data: "Data of #{id}"})

  @doc "Completes the template's variable: numbers that go on as the value began."
  @spec ids(map()) :: {:ok, [String.t()]}
  def ids(%{value: value}) do
    {:ok,
     1..999 |> Enum.map(&Integer.to_string/1) |> Enum.filter(&String.starts_with?(&1, value))}
  end
end
