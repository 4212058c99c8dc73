defmodule BeamMCP.Test.RawHTTP do
  @moduledoc """
  HTTP/1.1 by hand over `:gen_tcp` or `:ssl`, for tests that care about every byte.

  Requests carry the headers of a correct modern client (MCP 2026-07-28 basic/transports); a test
  names those that it changes: `headers: [accept: nil, mcp_method: ["a", "b"]]` removes the first
  and sends the second twice.
  """

  @revision "2026-07-28"
  @meta ~s({"io.modelcontextprotocol/protocolVersion":"#{@revision}",) <>
          ~s("io.modelcontextprotocol/clientCapabilities":{}})

  @typedoc "An answer. Header names are in lower case."
  @type response :: %{status: 100..599, headers: [{String.t(), String.t()}], body: binary()}

  @typedoc "A connection."
  @type socket :: :gen_tcp.socket() | :ssl.sslsocket()

  @doc "Connects to a port of this machine."
  @spec connect(:inet.port_number()) :: :gen_tcp.socket()
  def connect(port) do
    options = [:binary, active: false, packet: :raw, nodelay: true]
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, options)
    socket
  end

  @doc "The text of a modern request; `params` is the JSON text of its members without `_meta`."
  @spec body(String.t(), String.t(), String.t()) :: String.t()
  def body(method, params \\ "", id \\ "1") do
    params = if params == "", do: "", else: params <> ","
    ~s({"jsonrpc":"2.0","id":#{id},"method":"#{method}","params":{#{params}"_meta":#{@meta}}})
  end

  @doc "Sends a modern request and reads its answer. Options: `:id`, `:body`, `:headers`, `:path`."
  @spec modern(:inet.port_number() | socket(), String.t(), String.t(), keyword()) ::
          response()
  def modern(target, method, params \\ "", options \\ []) do
    body = options[:body] || body(method, params, options[:id] || "1")
    headers = [mcp_protocol_version: @revision, mcp_method: method] ++ name_header(params)
    post(target, body, [headers: Keyword.merge(headers, options[:headers] || [])] ++ options)
  end

  @doc "Calls a tool; `arguments` is JSON text. Options as for `modern/4`."
  @spec call(:inet.port_number() | socket(), String.t(), String.t(), keyword()) ::
          response()
  def call(target, tool, arguments \\ "{}", options \\ []) do
    modern(target, "tools/call", ~s("name":"#{tool}","arguments":#{arguments}), options)
  end

  @doc "Posts a body without the headers of the modern era."
  @spec post(:inet.port_number() | socket(), iodata(), keyword()) :: response()
  def post(target, body, options \\ []) do
    defaults = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: IO.iodata_length(body)
    ]

    headers = Keyword.merge(defaults, options[:headers] || [])
    request(target, "POST", options[:path] || "/mcp", headers, body)
  end

  @doc "Sends a request and reads its answer."
  @spec request(
          :inet.port_number() | socket(),
          String.t(),
          String.t(),
          keyword(),
          iodata()
        ) :: response()
  def request(target, method, path, headers \\ [], body \\ "")

  def request(port, method, path, headers, body) when is_integer(port) do
    socket = connect(port)
    response = request(socket, method, path, headers, body)
    :gen_tcp.close(socket)
    response
  end

  def request(socket, method, path, headers, body) do
    write(socket, method, path, headers, body)
    read(socket)
  end

  @doc "Sends a request without waiting for the answer."
  @spec write(socket(), String.t(), String.t(), keyword(), iodata()) :: :ok
  def write(socket, method, path, headers, body \\ "") do
    {:ok, {_ip, port}} = peername(socket)
    headers = Keyword.merge([host: "127.0.0.1:#{port}"], headers)

    :ok =
      transport(socket).send(socket, [
        "#{method} #{path} HTTP/1.1\r\n",
        lines(headers),
        "\r\n",
        body
      ])
  end

  @doc "Sends a modern `tools/call` without waiting for the answer."
  @spec write_call(socket(), String.t(), String.t(), String.t()) :: :ok
  def write_call(socket, tool, arguments \\ "{}", id \\ "1") do
    params = ~s("name":"#{tool}","arguments":#{arguments})
    body = body("tools/call", params, id)

    headers = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: byte_size(body),
      mcp_protocol_version: @revision,
      mcp_method: "tools/call",
      mcp_name: tool
    ]

    write(socket, "POST", "/mcp", headers, body)
  end

  @doc "Reads one answer."
  @spec read(socket(), timeout()) :: response()
  def read(socket, timeout \\ 10_000) do
    {head, rest} = read_head(socket, "", timeout)
    [status_line | lines] = String.split(head, "\r\n")
    ["HTTP/1.1", status | _reason] = String.split(status_line, " ")
    headers = Enum.map(lines, &header/1)

    body =
      if {"transfer-encoding", "chunked"} in headers do
        read_chunks(socket, rest, timeout)
      else
        {_name, length} = List.keyfind(headers, "content-length", 0, {"", "0"})
        read_body(socket, rest, String.to_integer(length), timeout)
      end

    %{status: String.to_integer(status), headers: headers, body: body}
  end

  @doc "The values of a header, one for each line."
  @spec header_values(response(), String.t()) :: [String.t()]
  def header_values(response, name), do: for({^name, value} <- response.headers, do: value)

  @doc "The message of each event of a stream, in order; the one that primes a stream has none."
  @spec events(response()) :: [String.t()]
  def events(response),
    do: for("data: " <> data <- String.split(response.body, "\n"), data != "", do: data)

  @doc "Whether the peer closes the connection within `timeout` without sending anything more."
  @spec closed?(socket(), timeout()) :: boolean()
  def closed?(socket, timeout \\ 2_000) do
    case transport(socket).recv(socket, 0, timeout) do
      {:error, reason} when reason in [:closed, :econnreset] -> true
      _open -> false
    end
  end

  defp transport(socket) do
    if is_tuple(socket) and elem(socket, 0) == :sslsocket, do: :ssl, else: :gen_tcp
  end

  defp peername(socket) do
    case transport(socket) do
      :ssl -> :ssl.peername(socket)
      :gen_tcp -> :inet.peername(socket)
    end
  end

  # The header repeats the tool that the body names.
  defp name_header(params) do
    case Regex.run(~r/"name":"([^"]*)"/, params) do
      [_, name] -> [mcp_name: name]
      nil -> []
    end
  end

  defp lines(headers) do
    for {name, values} <- headers, value <- List.wrap(values) do
      [name |> to_string() |> String.replace("_", "-"), ": ", to_string(value), "\r\n"]
    end
  end

  defp header(line) do
    [name, value] = String.split(line, ":", parts: 2)
    {String.downcase(name), String.trim(value)}
  end

  defp read_head(socket, read, timeout) do
    case String.split(read, "\r\n\r\n", parts: 2) do
      [head, rest] ->
        {head, rest}

      [_incomplete] ->
        {:ok, more} = transport(socket).recv(socket, 0, timeout)
        read_head(socket, read <> more, timeout)
    end
  end

  defp read_chunks(socket, read, timeout) do
    with [digits, rest] <- String.split(read, "\r\n", parts: 2),
         size = String.to_integer(digits, 16),
         true <- byte_size(rest) >= size + 2 do
      chunk = binary_part(rest, 0, size)
      rest = binary_part(rest, size + 2, byte_size(rest) - size - 2)
      if size == 0, do: "", else: chunk <> read_chunks(socket, rest, timeout)
    else
      _incomplete ->
        {:ok, more} = transport(socket).recv(socket, 0, timeout)
        read_chunks(socket, read <> more, timeout)
    end
  end

  defp read_body(_socket, read, length, _timeout) when byte_size(read) >= length, do: read

  defp read_body(socket, read, length, timeout) do
    {:ok, rest} = transport(socket).recv(socket, length - byte_size(read), timeout)
    read <> rest
  end
end
