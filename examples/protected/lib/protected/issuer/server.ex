defmodule Protected.Issuer.Server do
  @moduledoc false
  # HTTP/1.1 as far as an issuer for tests needs it, plain or over TLS: one request for each connection, in a
  # process of its own.

  alias Protected.Certificates
  alias Protected.Issuer.{Answer, Request}

  @type socket :: {:gen_tcp, :gen_tcp.socket()} | {:ssl, :ssl.sslsocket()}

  @options [:binary, active: false, packet: :http_bin, ip: {127, 0, 0, 1}, backlog: 128]
  @handshake_ms 5_000

  @spec listen(Certificates.t() | nil) :: socket()
  def listen(nil) do
    {:ok, socket} = :gen_tcp.listen(0, @options)
    {:gen_tcp, socket}
  end

  def listen(%Certificates{certfile: certfile, keyfile: keyfile}) do
    tls = [certfile: certfile, keyfile: keyfile]
    {:ok, socket} = :ssl.listen(0, @options ++ tls)
    {:ssl, socket}
  end

  @spec url(socket()) :: String.t()
  def url({:gen_tcp, socket}) do
    {:ok, port} = :inet.port(socket)
    "http://127.0.0.1:#{port}"
  end

  def url({:ssl, socket}) do
    {:ok, {_ip, port}} = :ssl.sockname(socket)
    "https://127.0.0.1:#{port}"
  end

  @doc "Answers whatever comes, for ever."
  @spec serve(socket(), (Request.t() -> Answer.t())) :: no_return()
  def serve(listening, answer) do
    {transport, socket} = accept(listening)

    pid =
      spawn(fn ->
        receive do
          :yours -> answer({transport, socket}, answer)
        end
      end)

    :ok = transport.controlling_process(socket, pid)
    send(pid, :yours)
    serve(listening, answer)
  end

  defp accept({:gen_tcp, listening}) do
    {:ok, socket} = :gen_tcp.accept(listening)
    {:gen_tcp, socket}
  end

  defp accept({:ssl, listening}) do
    {:ok, socket} = :ssl.transport_accept(listening)
    {:ssl, socket}
  end

  defp answer(socket, answer) do
    with {:ok, {transport, socket}} <- handshake(socket),
         {:ok, request} <- Request.read({transport, socket}) do
      transport.send(socket, Answer.bytes(answer.(request)))
      transport.close(socket)
    end
  end

  defp handshake({:gen_tcp, socket}), do: {:ok, {:gen_tcp, socket}}

  defp handshake({:ssl, socket}) do
    with {:ok, socket} <- :ssl.handshake(socket, @handshake_ms), do: {:ok, {:ssl, socket}}
  end
end
