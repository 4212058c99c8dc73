for file <- ~w(json message stdio_client), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.ReleaseStdioTest do
  # Builds the release of examples/release_app, whose application prints wherever it can, and talks to it as a client
  # would. Trial G14.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message

  alias BeamMCP.Test.StdioClient, as: Client

  @moduletag :integration
  @moduletag timeout: 600_000

  @app Path.expand("../../examples/release_app", __DIR__)
  # One for each toolchain, since a release carries its own.
  @release Path.join(@app, "_build/release-otp-#{System.otp_release()}")
  @command Path.join(@release, "bin/release_app-mcp")

  setup_all do
    build = ["release", "--overwrite", "--quiet", "--path", @release]
    env = [{"MIX_ENV", "prod"}, {"MIX_BUILD_ROOT", nil}]
    options = [cd: @app, env: env, stderr_to_stdout: true]
    {output, status} = System.cmd("mix", build, options)
    assert status == 0, output
    :ok
  end

  setup do
    {:ok, client: Client.start([@command])}
  end

  test "serves a modern client", %{client: client} do
    Client.send_line(client, request(1, "server/discover"))

    assert %{"id" => 1, "result" => %{"resultType" => "complete"}} =
             Client.receive_message(client)

    Client.send_line(client, request(2, "tools/list"))
    tools = Client.receive_message(client)["result"]["tools"]
    assert Enum.map(tools, & &1["name"]) == ["echo", "slow", "crash"]

    Client.send_line(client, call(3, "echo", ~S({"text":"hé"})))
    assert %{"content" => [%{"text" => "hé"}]} = Client.receive_message(client)["result"]
  end

  test "serves a legacy client", %{client: client} do
    Client.send_line(client, initialize(1))
    result = Client.receive_message(client)["result"]
    assert %{"protocolVersion" => "2025-11-25"} = result
    assert %{"name" => "release_app"} = result["serverInfo"]
    Client.send_line(client, notification("notifications/initialized"))

    Client.send_line(
      client,
      legacy(2, "tools/call", ~S({"name":"echo","arguments":{"text":"a"}}))
    )

    assert %{"content" => [%{"text" => "a"}]} = Client.receive_message(client)["result"]
  end

  test "keeps what is printed at boot and in a tool from the client", %{client: client} do
    Client.send_line(client, call(1, "echo", ~S({"text":"a"})))
    Client.send_line(client, call(2, "crash"))
    answers = Client.receive_by_id(client, 2)
    assert %{"result" => %{"isError" => true}} = answers[2]
    Client.close_input(client)
    assert {[], 0} = Client.await_exit(client)

    stderr = Client.stderr(client)

    for moment <- ["at boot", "in a tool"],
        way <- ["logger", "IO.puts", "user", "child program"] do
      assert stderr =~ "#{moment}: #{way}"
    end

    assert stderr =~ "display"
    assert stderr =~ "on purpose"
  end

  test "cancels a call and sends nothing more for it", %{client: client} do
    Client.send_line(client, call(0, "slow", ~S({"ms":60000})))
    Client.send_line(client, call(1, "slow", ~S({"ms":1})))
    assert %{"id" => 1} = Client.receive_message(client)
    Client.send_line(client, cancel(0))
    assert Client.silent?(client, 300)
    assert Client.stderr(client) =~ "slow was cancelled: IO.puts"
    Client.close_input(client)
    assert {[], 0} = Client.await_exit(client, 2_000)
  end

  test "finishes running calls and exits with 0 at the end of input", %{client: client} do
    Client.send_line(client, call(1, "slow", ~S({"ms":300})))
    Client.close_input(client)
    assert {[%{"id" => 1, "result" => _}], 0} = Client.await_exit(client)
  end

  test "finishes running calls and exits with 0 on SIGTERM", %{client: client} do
    Client.send_line(client, call(1, "echo", ~S({"text":"a"})))
    assert %{"id" => 1} = Client.receive_message(client)
    Client.send_line(client, call(2, "slow", ~S({"ms":500})))
    Process.sleep(100)
    Client.terminate(client)
    assert {[%{"id" => 2, "result" => _}], 0} = Client.await_exit(client)
  end

  test "exits within 2 s of the end of input when nothing runs", %{client: client} do
    Client.send_line(client, request(1, "server/discover"))
    Client.receive_message(client)
    Client.close_input(client)
    assert {[], 0} = Client.await_exit(client, 2_000)
  end

  test "loses nothing that was written before the VM was up", %{client: client} do
    for id <- 1..2_000, do: Client.send_line(client, request(id, "server/discover"))
    Client.close_input(client)
    {messages, 0} = Client.await_exit(client)
    assert Enum.sort(Enum.map(messages, & &1["id"])) == Enum.to_list(1..2_000)
  end
end
