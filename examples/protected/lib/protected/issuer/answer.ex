defmodule Protected.Issuer.Answer do
  @moduledoc false
  # What is sent back.

  @type t :: {status :: 200..499, headers :: [{String.t(), String.t()}], body :: binary()}

  # Nothing that an issuer says of a grant may be kept (RFC 6749 §5.1).
  @spec json(200..499, map()) :: t()
  def json(status, members) do
    {:ok, body} = BeamMCP.Native.encode(members)
    {status, [{"content-type", "application/json"}, {"cache-control", "no-store"}], body}
  end

  @doc "An error as RFC 6749 §5.2 and RFC 7591 §3.2.2 have it."
  @spec error(code :: String.t(), text :: String.t()) :: t()
  def error(code, text), do: json(400, %{error: code, error_description: text})

  @doc "Sends the user's browser on, with parameters added."
  @spec redirect(String.t(), [{atom(), String.t()}]) :: t()
  def redirect(uri, parameters) do
    joint = if String.contains?(uri, "?"), do: "&", else: "?"
    {302, [{"location", uri <> joint <> URI.encode_query(parameters)}], ""}
  end

  @spec bytes(t()) :: iodata()
  def bytes({status, headers, body}) do
    lines = for {name, value} <- headers, do: [name, ": ", value, "\r\n"]
    length = Integer.to_string(byte_size(body))

    [
      ["HTTP/1.1 ", Integer.to_string(status), " ", "\r\n"],
      [lines, "content-length: ", length, "\r\n", "connection: close\r\n\r\n"],
      body
    ]
  end
end
