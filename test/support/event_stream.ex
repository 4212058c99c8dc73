defmodule BeamMCP.Test.EventStream do
  @moduledoc "Reads a `text/event-stream` answer event by event over `:gen_tcp`."

  alias BeamMCP.Test.RawHTTP

  @typedoc "An open stream."
  @type t :: :gen_tcp.socket()

  @typedoc "One event: its id, and its message or nothing."
  @type event :: %{id: String.t() | nil, message: map() | nil, text: String.t()}

  @doc "Opens a `subscriptions/listen` stream; returns it past its acknowledgement."
  @spec listen(:inet.port_number(), map()) :: {t(), honoured :: map()}
  def listen(port, notifications) do
    {:ok, notifications} = BeamMCP.Native.encode(notifications)
    body = RawHTTP.body("subscriptions/listen", ~s("notifications":#{notifications}))
    stream = post(port, "subscriptions/listen", body)
    %{message: acknowledgement} = next(stream)
    "notifications/subscriptions/acknowledged" = acknowledgement["method"]
    {stream, acknowledgement["params"]["notifications"]}
  end

  @doc "Posts a modern request that a stream answers."
  @spec post(:inet.port_number(), String.t(), String.t(), keyword()) :: t()
  def post(port, method, body, more \\ []) do
    headers = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: byte_size(body),
      mcp_protocol_version: "2026-07-28",
      mcp_method: method
    ]

    open(port, "POST", headers ++ more, body)
  end

  @doc "Calls a tool of a legacy session, which answers by a stream."
  @spec call(:inet.port_number(), keyword(), String.t()) :: t()
  def call(port, session, tool) do
    body = ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"#{tool}"}})

    headers = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: byte_size(body)
    ]

    open(port, "POST", headers ++ session, body)
  end

  @doc "Opens the standing stream of a legacy session, perhaps after an event."
  @spec get(:inet.port_number(), keyword(), String.t() | nil) :: t()
  def get(port, session, last_event_id \\ nil) do
    resumed = if last_event_id, do: [last_event_id: last_event_id], else: []
    open(port, "GET", [accept: "text/event-stream"] ++ session ++ resumed, "")
  end

  @doc "Opens the stream of a legacy request, for a client that reads nothing else."
  @spec post_legacy(:inet.port_number(), keyword(), String.t()) :: t()
  def post_legacy(port, session, body) do
    headers = [
      content_type: "application/json",
      accept: "text/event-stream",
      content_length: byte_size(body)
    ]

    open(port, "POST", headers ++ session, body)
  end

  @doc "The next event that is no comment; `:end` when the stream has ended."
  @spec next(t(), timeout()) :: event() | :end
  def next(stream, timeout \\ 5_000) do
    case chunk(stream, timeout) do
      "" -> :end
      ":" <> _comment -> next(stream, timeout)
      text -> event(text)
    end
  end

  @doc "The method of the next event's message."
  @spec method(t()) :: String.t() | nil
  def method(stream), do: next(stream).message["method"]

  @doc "Whether nothing comes for `timeout` milliseconds."
  @spec silent?(t(), timeout()) :: boolean()
  def silent?(stream, timeout \\ 150) do
    :ok = :inet.setopts(stream, packet: :line)
    :gen_tcp.recv(stream, 0, timeout) == {:error, :timeout}
  end

  @doc "Leaves."
  @spec close(t()) :: :ok
  def close(stream), do: :gen_tcp.close(stream)

  defp open(port, method, headers, body) do
    stream = RawHTTP.connect(port)
    RawHTTP.write(stream, method, "/mcp", headers, body)
    ["HTTP/1.1 200" <> _ok | headers] = head(stream)
    true = "content-type: text/event-stream\r\n" in headers
    stream
  end

  defp head(stream) do
    case line(stream, 5_000) do
      "\r\n" -> []
      line -> [line | head(stream)]
    end
  end

  defp chunk(stream, timeout) do
    {size, "\r\n"} = stream |> line(timeout) |> Integer.parse(16)
    :ok = :inet.setopts(stream, packet: :raw)
    {:ok, chunk} = :gen_tcp.recv(stream, size + 2, timeout)
    binary_part(chunk, 0, size)
  end

  defp line(stream, timeout) do
    :ok = :inet.setopts(stream, packet: :line)
    {:ok, line} = :gen_tcp.recv(stream, 0, timeout)
    line
  end

  defp event(text) do
    fields = for line <- String.split(text, "\n", trim: true), do: field(line)
    data = fields |> List.keyfind("data", 0, {"data", ""}) |> elem(1)
    id = fields |> List.keyfind("id", 0, {"id", nil}) |> elem(1)
    %{id: id, message: message(data), text: text}
  end

  defp field(line), do: line |> String.split(": ", parts: 2) |> List.to_tuple()

  defp message(""), do: nil

  defp message(data) do
    {:ok, message} = BeamMCP.Native.decode(data)
    message
  end
end
