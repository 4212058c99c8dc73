defmodule Protected.CLI do
  @moduledoc "What `bin/serve --protected` runs."

  alias Protected.{Banner, Certificates, Issuer}

  @doc """
  `http PORT COMMAND` and `https PORT COMMAND` serve until the VM is stopped; COMMAND is for servers that
  speak stdio too.
  """
  @spec main([String.t()]) :: no_return()
  def main([scheme, port, _command]) do
    {:ok, _started} = Application.ensure_all_started(:protected)
    certificates = certificates(scheme)
    {:ok, pid} = Supervisor.start_child(Protected.Supervisor, {Issuer, certificates})
    issuer = Issuer.get(pid)
    resource = "#{scheme}://127.0.0.1:#{port(port)}/mcp"
    server = Protected.server(resource, issuer.url, certificates)

    case Supervisor.start_child(Protected.Supervisor, server) do
      {:ok, _pid} ->
        IO.puts(Banner.text(resource, issuer, certificates))
        Process.sleep(:infinity)

      {:error, {%BeamMCP.Error{} = error, _child}} ->
        IO.puts(:stderr, Exception.message(error) <> ": `bin/serve --protected --port PORT`")
        System.halt(1)
    end
  end

  defp certificates("http"), do: nil

  defp certificates("https") do
    name = "beam_mcp-protected-" <> Base.encode16(:crypto.strong_rand_bytes(8), case: :lower)
    Certificates.make!(Path.join(System.tmp_dir!(), name))
  end

  # The resource names its port before anything listens there.
  defp port("0") do
    {:ok, socket} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, port} = :inet.port(socket)
    :ok = :gen_tcp.close(socket)
    port
  end

  defp port(digits), do: String.to_integer(digits)
end
