for file <- ~w(json message), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.ClusterExampleTest do
  # `examples/cluster/run`: three nodes serve the same session.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message, only: [initialize: 1, legacy: 3]

  alias BeamMCP.Test.{Json, RawHTTP}

  @moduletag :integration
  @moduletag timeout: 120_000

  @run Path.expand("../../examples/cluster/run", __DIR__)

  test "three nodes serve one session" do
    ports = for _ <- 1..3, do: free_port()

    script =
      Port.open({:spawn_executable, @run}, [
        :binary,
        :stderr_to_stdout,
        # What these tests run on is built.
        env: [{~c"MIX_ENV", to_charlist(Mix.env())}],
        args: Enum.map(ports, &to_string/1)
      ])

    {:os_pid, pid} = Port.info(script, :os_pid)
    on_exit(fn -> System.cmd("kill", [to_string(pid)], stderr_to_stdout: true) end)
    await(script, "", 3)

    [id] = ports |> hd() |> RawHTTP.post(initialize(1)) |> RawHTTP.header_values("mcp-session-id")
    session = [mcp_session_id: id, mcp_protocol_version: "2025-11-25"]
    call = legacy(2, "tools/call", ~S({"name":"whereabouts"}))

    names =
      for port <- ports do
        response = RawHTTP.post(port, call, headers: session)
        [%{"text" => text}] = Json.decode!(response.body)["result"]["content"]
        text
      end

    assert names == ~w(one@127.0.0.1 two@127.0.0.1 three@127.0.0.1)
  end

  defp await(script, read, lines) do
    if length(String.split(read, " serves http")) <= lines do
      receive do
        {^script, {:data, more}} -> await(script, read <> more, lines)
      after
        60_000 -> flunk(read)
      end
    end
  end

  defp free_port do
    {:ok, socket} = :gen_tcp.listen(0, [])
    {:ok, port} = :inet.port(socket)
    :gen_tcp.close(socket)
    port
  end
end
