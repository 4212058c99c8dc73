for file <- ~w(json message stdio_client), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.StdioTest do
  # Lines on the standard streams of a program of its own, in the order of MCP 2026-07-28 basic/transports/stdio.
  # G and X are rows of the trials.
  use ExUnit.Case, async: true

  import BeamMCP.Test.Message

  alias BeamMCP.Test.StdioClient, as: Client

  @moduletag :integration
  @moduletag timeout: 60_000

  @server Path.expand("support/stdio_server.exs", __DIR__)
  @limit 1_048_576

  setup context do
    {:ok, client: Client.start(command(context[:start] || :launcher))}
  end

  describe "messages" do
    test "come one to a line, and nothing else does", %{client: client} do
      Client.send_line(client, call(1, "print"))
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
      Client.close_input(client)
      assert {[], 0} = Client.await_exit(client)
      stderr = Client.stderr(client)
      for way <- ["IO.puts", "logger", "report"], do: assert(stderr =~ "noise: #{way}")
    end

    test "may end with a carriage return, and the stream may start with a byte order mark",
         %{client: client} do
      Client.write(client, ["\uFEFF", request(1, "server/discover"), "\r\n\r\n\n"])
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
    end

    test "G13: a malformed one is answered once and the next is served", %{client: client} do
      Client.write(client, "{bad\n")
      Client.send_line(client, request(1, "server/discover"))
      refused = Client.receive_message(client)
      assert refused["error"]["code"] == -32_700
      refute is_map_key(refused, "id")
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
    end

    test "may be the last one without a line end", %{client: client} do
      Client.write(client, request(1, "server/discover"))
      Client.close_input(client)
      assert {[%{"id" => 1}], 0} = Client.await_exit(client)
    end

    test "X03: are served up to the limit and refused over it", %{client: client} do
      text = String.duplicate("x", 900_000)
      Client.send_line(client, call(1, "echo", ~s({"text":"#{text}"})))
      assert Client.receive_message(client)["result"]["structuredContent"] == %{"text" => text}

      Client.send_line(client, padded(call(2, "echo"), @limit))
      assert %{"id" => 2, "result" => _} = Client.receive_message(client)

      Client.send_line(client, padded(call(3, "echo"), @limit + 1))
      assert %{"id" => 3, "error" => %{"message" => message}} = Client.receive_message(client)
      assert message =~ ~r/1.?048.?576/

      Client.send_line(client, request(4, "server/discover"))
      assert %{"id" => 4} = Client.receive_message(client)
    end

    test "G06: half a million open brackets are refused", %{client: client} do
      Client.send_line(client, call(1, "echo", String.duplicate("[", 524_288)))
      assert Client.receive_message(client)["error"]["code"] in [-32_600, -32_700]
      Client.send_line(client, request(2, "server/discover"))
      assert %{"id" => 2} = Client.receive_message(client)
    end

    test "may come before the VM is up", %{client: client} do
      for id <- 1..5_000, do: Client.send_line(client, request(id, "server/discover"))
      Client.close_input(client)
      {messages, 0} = Client.await_exit(client)
      assert Enum.sort(Enum.map(messages, & &1["id"])) == Enum.to_list(1..5_000)
    end
  end

  describe "requests" do
    test "G01: with a null id are refused without an id", %{client: client} do
      Client.send_line(client, call("null", "sleep", ~S({"ms":0,"mark":"null"})))
      refused = Client.receive_message(client)
      assert refused["error"]["code"] == -32_600
      refute is_map_key(refused, "id")
      assert marks(client) == %{}
    end

    test "G03: keep the type of their id", %{client: client} do
      Client.send_line(client, request(~S("init-1"), "server/discover"))
      assert %{"id" => "init-1"} = Client.receive_message(client)
      Client.send_line(client, call(~S("1"), "sleep", ~S({"ms":100})))
      Client.send_line(client, call("1", "sleep", ~S({"ms":100})))
      answers = Client.receive_by_id(client, 2)
      assert %{"1" => %{"result" => _}, 1 => %{"result" => _}} = answers
    end

    test "with an id in flight are refused", %{client: client} do
      Client.send_line(client, call(1, "sleep", ~S({"ms":300})))
      Client.send_line(client, call(1, "echo"))
      assert Client.receive_message(client)["error"]["code"] == -32_600
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
    end

    test "G04: have members whose case matters", %{client: client} do
      upper = ~S({"jsonrpc":"2.0","ID":1,"Method":"tools/call","params":{}})
      Client.send_line(client, upper)
      assert Client.receive_message(client)["error"]["code"] == -32_600

      both =
        String.replace(request(2, "tools/list"), "{", ~S({"Method":"tools/call",), global: false)

      Client.send_line(client, both)
      assert %{"id" => 2, "result" => %{"tools" => _}} = Client.receive_message(client)
    end

    test "G05: with a key twice are refused by its name", %{client: client} do
      for key <- [~S("name"), ~S("\u006eame")] do
        params = ~s("name":"sleep",#{key}:"sleep","arguments":{"ms":0,"mark":"twice"})
        Client.send_line(client, request(1, "tools/call", params))

        assert %{"code" => -32_600, "message" => message} =
                 Client.receive_message(client)["error"]

        assert message =~ "name"
      end

      Client.send_line(client, call(2, "echo", ~S({"a":[{"b":1,"b":1}]})))
      assert Client.receive_message(client)["error"]["code"] == -32_600
      assert marks(client) == %{}
    end

    test "run concurrently and are answered as they finish", %{client: client} do
      Client.send_line(client, call(1, "sleep", ~S({"ms":400})))
      Client.send_line(client, call(2, "sleep", ~S({"ms":1})))
      assert [2, 1] = for(_ <- 1..2, do: Client.receive_message(client)["id"])
    end

    test "of both eras may be mixed", %{client: client} do
      Client.send_line(client, initialize(1))
      assert %{"protocolVersion" => "2025-11-25"} = Client.receive_message(client)["result"]
      Client.send_line(client, request(2, "tools/list"))
      assert %{"resultType" => "complete"} = Client.receive_message(client)["result"]
      Client.send_line(client, legacy(3, "tools/list"))
      refute is_map_key(Client.receive_message(client)["result"], "resultType")
    end

    test "come from whom the launcher names", %{client: client} do
      Client.send_line(client, call(1, "whoami"))
      caller = Client.receive_message(client)["result"]["structuredContent"]

      assert caller == %{
               "principal" => "the launcher's user",
               "scopes" => BeamMCP.Scopes.all()
             }
    end

    test "of no header layer cause no header fault", %{client: client} do
      Client.send_line(client, call(1, "nothing_of_this_name"))
      assert Client.receive_message(client)["error"]["code"] == -32_602
    end
  end

  describe "legacy clients" do
    test "X09: may ping before they initialize", %{client: client} do
      Client.send_line(client, legacy(1, "ping"))
      assert %{"id" => 1, "result" => result} = Client.receive_message(client)
      assert result == %{}
    end

    test "X12: cannot cancel their initialize", %{client: client} do
      Client.write(client, [initialize(1), "\n", cancel(1), "\n"])
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
      Client.send_line(client, legacy(2, "ping"))
      assert %{"id" => 2} = Client.receive_message(client)
    end

    test "get the newest legacy revision when they offer a modern one", %{client: client} do
      Client.send_line(client, initialize(1, "2026-07-28"))
      assert Client.receive_message(client)["result"]["protocolVersion"] == "2025-11-25"
    end
  end

  describe "notifications/cancelled" do
    test "G02: cancels a call with the id 0", %{client: client} do
      assert marks(client) == %{}
      Client.send_line(client, call(0, "sleep", ~S({"ms":60000,"mark":"zero"})))
      Process.sleep(200)
      Client.send_line(client, cancel(0))
      assert Client.silent?(client, 300)
      assert marks(client) == %{"zero" => "cancelled"}
      Client.send_line(client, call(0, "echo"))
      assert %{"id" => 0, "result" => _} = Client.receive_message(client)
    end

    test "cancels a call whose line it follows at once", %{client: client} do
      sleep = call(1, "sleep", ~S({"ms":60000}))
      Client.write(client, [sleep, "\n", cancel(1), "\n"])
      Client.close_input(client)
      assert {[], 0} = Client.await_exit(client, 3_000)
    end

    test "is without effect when nothing has its id", %{client: client} do
      for id <- ["7", ~S("7"), "null", "[]"], do: Client.send_line(client, cancel(id))
      Client.send_line(client, request(1, "server/discover"))
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
    end
  end

  describe "the end" do
    test "of input lets calls finish and exits with 0", %{client: client} do
      Client.send_line(client, call(1, "sleep", ~S({"ms":300})))
      Client.close_input(client)
      assert {[%{"id" => 1, "result" => _}], 0} = Client.await_exit(client)
    end

    test "of input with nothing running comes within 2 s", %{client: client} do
      Client.send_line(client, request(1, "server/discover"))
      Client.receive_message(client)
      Client.close_input(client)
      assert {[], 0} = Client.await_exit(client, 2_000)
    end

    test "by SIGTERM lets calls finish and exits with 0", %{client: client} do
      Client.send_line(client, request(1, "server/discover"))
      Client.receive_message(client)
      Client.send_line(client, call(2, "sleep", ~S({"ms":500})))
      Process.sleep(200)
      Client.terminate(client)
      assert {[%{"id" => 2, "result" => _}], 0} = Client.await_exit(client)
    end

    test "by shutdown and exit is accepted", %{client: client} do
      Client.send_line(client, legacy(1, "shutdown"))
      assert %{"id" => 1, "result" => result} = Client.receive_message(client)
      assert result == %{}
      Client.send_line(client, request(2, "shutdown"))
      assert %{"resultType" => "complete"} = Client.receive_message(client)["result"]
      Client.send_line(client, notification("exit"))
      assert {[], 0} = Client.await_exit(client, 2_000)
    end
  end

  for start <- [:noinput, :reader] do
    describe "without the launcher (#{start})" do
      @describetag start: start

      test "both eras are served", %{client: client} do
        # One line before the VM is up, one after.
        for id <- 1..2 do
          Client.send_line(client, call(id, "echo", ~S({"a":"é日"})))
          result = Client.receive_message(client)["result"]
          assert result["structuredContent"] == %{"a" => "é日"}
        end

        Client.send_line(client, initialize(3))
        assert %{"id" => 3, "result" => _} = Client.receive_message(client)
        Client.close_input(client)
        assert {[], 0} = Client.await_exit(client)
      end

      test "lines written before the VM is up are served", %{client: client} do
        for id <- 1..1_000, do: Client.send_line(client, request(id, "server/discover"))
        Client.close_input(client)
        {messages, 0} = Client.await_exit(client)
        assert Enum.sort(Enum.map(messages, & &1["id"])) == Enum.to_list(1..1_000)
      end

      test "SIGTERM exits with 0", %{client: client} do
        Client.send_line(client, request(1, "server/discover"))
        Client.receive_message(client)
        Client.terminate(client)
        assert {[], 0} = Client.await_exit(client)
      end
    end
  end

  describe "with -noinput" do
    @describetag start: :noinput

    test "prints go to standard error once run/1 is called", %{client: client} do
      Client.send_line(client, call(1, "print"))
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
      Client.close_input(client)
      assert {[], 0} = Client.await_exit(client)
      stderr = Client.stderr(client)
      for way <- ["IO.puts", "logger", "report"], do: assert(stderr =~ "noise: #{way}")
    end
  end

  describe "with the reader of the VM" do
    @describetag start: :reader

    test "logs go to standard error once run/1 is called", %{client: client} do
      Client.send_line(client, call(1, "log"))
      assert %{"id" => 1, "result" => _} = Client.receive_message(client)
      Client.close_input(client)
      assert {[], 0} = Client.await_exit(client)
      for way <- ["logger", "report"], do: assert(Client.stderr(client) =~ "noise: #{way}")
    end
  end

  defp marks(client) do
    Client.send_line(client, call(~S("marks"), "marks"))
    Client.receive_message(client)["result"]["structuredContent"]
  end

  # `line` with white space at its end, so that it has `size` bytes.
  defp padded(line, size), do: line <> String.duplicate(" ", size - byte_size(line))

  defp command(:launcher) do
    launch =
      ~S(exec 3<&0 4>&1 0</dev/null 1>&2; BEAM_MCP_STDIO=3,4; export BEAM_MCP_STDIO; exec "$@")

    ["/bin/sh", "-c", launch, "sh" | elixir([])]
  end

  defp command(:noinput), do: elixir(["--erl", "-noinput"])
  defp command(:reader), do: elixir([])

  defp elixir(options) do
    ebin = Application.app_dir(:beam_mcp, "ebin")
    [System.find_executable("elixir")] ++ options ++ ["-pa", ebin, @server]
  end
end
