defmodule BeamMCP.Fixture.Client do
  @moduledoc "One HTTP/1.1 connection, for tests."

  @version "2026-07-28"

  @doc "Connects to the first listener of the instance."
  def connect(name \\ BeamMCP) do
    [listener | _] = BeamMCP.info!(name).listeners
    connect_to(listener.address)
  end

  def connect_to({:tcp, ip, port}), do: open(ip, port)
  def connect_to({:unix, path}), do: open({:local, path}, 0)

  @doc "Calls a tool in the modern era; `arguments` is JSON text. Returns `{status, body}`."
  def call(socket, tool, arguments \\ "{}", options \\ []) do
    send_call(socket, tool, arguments, options)
    response(socket)
  end

  def send_call(socket, tool, arguments \\ "{}", options \\ []) do
    params = ~s("name":"#{tool}","arguments":#{arguments})
    headers = [{"mcp-name", tool} | Keyword.get(options, :headers, [])]
    send_request(socket, "tools/call", params, Keyword.put(options, :headers, headers))
  end

  @doc "Sends a modern request; `params` is the JSON text of its members, without `_meta`."
  def request(socket, method, params \\ "", options \\ []) do
    send_request(socket, method, params, options)
    response(socket)
  end

  def send_request(socket, method, params, options) do
    body = body(method, params, Keyword.get(options, :id, 1))
    modern = [{"mcp-protocol-version", @version}, {"mcp-method", method}]
    write(socket, "POST", body, modern ++ Keyword.get(options, :headers, []))
  end

  @doc "Sends any body. Returns `{status, headers, body}`."
  def post(socket, body, headers \\ []), do: send_raw(socket, "POST", body, headers)

  def send_raw(socket, method, body, headers) do
    write(socket, method, body, headers)
    read(socket)
  end

  @doc "Reads a response as `{status, body}`."
  def response(socket) do
    {status, _headers, body} = read(socket)
    {status, body}
  end

  def close(socket), do: :gen_tcp.close(socket)

  defp open(address, port) do
    {:ok, socket} = :gen_tcp.connect(address, port, [:binary, active: false, packet: :http_bin])
    socket
  end

  defp body(method, params, id) do
    meta =
      ~s("_meta":{"io.modelcontextprotocol/protocolVersion":"#{@version}",) <>
        ~s("io.modelcontextprotocol/clientCapabilities":{}})

    params = if params == "", do: meta, else: params <> "," <> meta
    ~s({"jsonrpc":"2.0","id":#{id},"method":"#{method}","params":{#{params}}})
  end

  defp write(socket, method, body, headers) do
    common = [
      {"host", "127.0.0.1"},
      {"content-type", "application/json"},
      {"accept", "application/json, text/event-stream"},
      {"content-length", byte_size(body)}
    ]

    lines = for {name, value} <- common ++ headers, do: "#{name}: #{value}\r\n"
    :ok = :gen_tcp.send(socket, ["#{method} /mcp HTTP/1.1\r\n", lines, "\r\n", body])
  end

  defp read(socket) do
    {:ok, {:http_response, _version, status, _phrase}} = :gen_tcp.recv(socket, 0, 10_000)
    headers = read_headers(socket, %{})
    length = String.to_integer(Map.get(headers, "content-length", "0"))
    {status, headers, read_body(socket, length)}
  end

  defp read_headers(socket, headers) do
    case :gen_tcp.recv(socket, 0, 10_000) do
      {:ok, {:http_header, _, name, _, value}} ->
        read_headers(socket, Map.put(headers, String.downcase(to_string(name)), value))

      {:ok, :http_eoh} ->
        headers
    end
  end

  defp read_body(_socket, 0), do: ""

  defp read_body(socket, length) do
    :ok = :inet.setopts(socket, packet: :raw)
    {:ok, body} = :gen_tcp.recv(socket, length, 10_000)
    :ok = :inet.setopts(socket, packet: :http_bin)
    body
  end
end
