defmodule BeamMCP.Test.Issuer do
  @moduledoc "An HTTP server on this machine that answers as it is told and counts what is asked."

  use Agent

  @doc """
  Starts it; `answers` are from paths to `{status, headers, body}`, to `:hang`, or to a function that
  gets the text of the request and returns one of them.
  """
  def start_link(answers) do
    {:ok, listen} =
      :gen_tcp.listen(0, [:binary, active: false, ip: {127, 0, 0, 1}, backlog: 1_024])

    {:ok, port} = :inet.port(listen)
    {:ok, agent} = Agent.start_link(fn -> %{port: port, answers: answers, asked: []} end)
    spawn_link(fn -> accept(listen, agent) end)
    {:ok, agent}
  end

  @doc "The URL of a path."
  def url(issuer, path), do: "http://127.0.0.1:#{Agent.get(issuer, & &1.port)}#{path}"

  @doc "Answers otherwise from now on."
  def put(issuer, path, answer),
    do: Agent.update(issuer, &put_in(&1.answers[path], answer))

  @doc "The paths that were asked for, the last one first."
  def asked(issuer), do: Agent.get(issuer, & &1.asked)

  defp accept(listen, agent) do
    {:ok, socket} = :gen_tcp.accept(listen)
    pid = spawn(fn -> serve(socket, agent) end)
    :ok = :gen_tcp.controlling_process(socket, pid)
    accept(listen, agent)
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
        {:ok, more} = :gen_tcp.recv(socket, 0)
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

  defp answer(socket, {status, headers, body}) do
    lines = for {name, value} <- headers, do: "#{name}: #{value}\r\n"
    length = "content-length: #{byte_size(body)}\r\n"

    :gen_tcp.send(socket, [
      "HTTP/1.1 #{status} x\r\n",
      lines,
      length,
      "connection: close\r\n\r\n",
      body
    ])

    :gen_tcp.close(socket)
  end
end
