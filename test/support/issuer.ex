defmodule BeamMCP.Test.Issuer do
  @moduledoc "An HTTP server on this machine that answers as it is told and counts what is asked."

  use Agent

  @doc """
  Starts it; `answers` are from paths to `{status, headers, body}`, to `:hang`, to `:close`, or to a
  function that gets the text of the request and returns one of them. With the identity of
  `BeamMCP.Test.Certificates` it speaks TLS.
  """
  def start_link({answers, identity}), do: start_link(answers, identity)
  def start_link(answers), do: start_link(answers, nil)

  defp start_link(answers, identity) do
    {:ok, listen} =
      :gen_tcp.listen(0, [:binary, active: false, ip: {127, 0, 0, 1}, backlog: 1_024])

    {:ok, port} = :inet.port(listen)
    origin = if identity, do: "https://localhost:#{port}", else: "http://127.0.0.1:#{port}"
    {:ok, agent} = Agent.start_link(fn -> %{origin: origin, answers: answers, asked: []} end)
    spawn_link(fn -> accept(listen, agent, identity) end)
    {:ok, agent}
  end

  @doc "The URL of a path."
  def url(issuer, path), do: Agent.get(issuer, & &1.origin) <> path

  @doc "Answers otherwise from now on."
  def put(issuer, path, answer),
    do: Agent.update(issuer, &put_in(&1.answers[path], answer))

  @doc "The paths that were asked for, the last one first."
  def asked(issuer), do: Agent.get(issuer, & &1.asked)

  defp accept(listen, agent, identity) do
    {:ok, socket} = :gen_tcp.accept(listen)
    pid = spawn(fn -> receive(do: (:yours -> shake(socket, agent, identity))) end)
    :ok = :gen_tcp.controlling_process(socket, pid)
    send(pid, :yours)
    accept(listen, agent, identity)
  end

  defp shake(socket, agent, nil), do: serve({:gen_tcp, socket}, agent)

  defp shake(socket, agent, identity) do
    # Clients that do not believe the certificate go away.
    with {:ok, socket} <- :ssl.handshake(socket, Map.to_list(identity), 5_000),
         do: serve({:ssl, socket}, agent)
  end

  defp serve(socket, agent) do
    request = read(socket, "")
    [_method, path | _rest] = String.split(request, " ")

    answer =
      Agent.get_and_update(agent, fn state ->
        {state.answers[path] || {404, [], ""}, %{state | asked: [path | state.asked]}}
      end)

    answer(socket, if(is_function(answer), do: answer.(request), else: answer))
  end

  # A body, where there is one, has its length.
  defp read(socket, read) do
    with [head, body] <- String.split(read, "\r\n\r\n", parts: 2),
         true <- byte_size(body) >= length_of(head) do
      read
    else
      _incomplete ->
        {transport, raw} = socket
        {:ok, more} = transport.recv(raw, 0)
        read(socket, read <> more)
    end
  end

  defp length_of(head) do
    case Regex.run(~r/content-length: (\d+)/i, head) do
      [_line, length] -> String.to_integer(length)
      nil -> 0
    end
  end

  defp answer(_socket, :hang), do: Process.sleep(:infinity)
  defp answer({transport, socket}, :close), do: transport.close(socket)

  defp answer({transport, socket}, {status, headers, body}) do
    lines = for {name, value} <- headers, do: "#{name}: #{value}\r\n"
    length = "content-length: #{byte_size(body)}\r\n"

    transport.send(socket, [
      "HTTP/1.1 #{status} x\r\n",
      lines,
      length,
      "connection: close\r\n\r\n",
      body
    ])

    transport.close(socket)
  end
end
