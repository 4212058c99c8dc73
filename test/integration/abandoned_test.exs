for file <- ~w(json message), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.AbandonedTest do
  # Clients that open something and are never heard of again: what they leave stays within its caps, ends by itself,
  # and costs no memory the second time.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Until

  import BeamMCP.Test.Message, only: [initialize: 1]

  alias BeamMCP.{Context, ToolSpec}
  alias BeamMCP.SessionStore
  alias BeamMCP.Test.RawHTTP

  @moduletag :exhaustive
  @moduletag timeout: 900_000
  @name __MODULE__

  @abandoned 20_000
  @at_once 8
  @cap 1_000
  @ttl_ms 2_000

  # What two rounds may differ by: allocators keep what they have, and the machine does other things.
  @slack_mib 16

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities,
      do: %{tools: [%ToolSpec{name: "wait", resume: :park}], resources: [], prompts: []}

    def call("wait", _arguments, context), do: {:ok, inspect(Context.roots(context))}
  end

  setup_all do
    sessions = [max_sessions: @cap, idle_timeout_ms: @ttl_ms, sweep_interval_ms: 100]

    start_supervised!(
      {BeamMCP,
       name: @name,
       catalog: Catalog,
       dispatch: &Catalog.call/3,
       session_store: {SessionStore.ETS, sessions},
       request_state_ttl_ms: @ttl_ms,
       max_parked: @cap,
       max_subscriptions: @cap,
       http: [port: 0, authorize: :none, allowed_origins: []]}
    )

    [listener] = BeamMCP.info!(@name).listeners
    {:ok, port: BeamMCP.Listener.port(listener)}
  end

  test "sessions", %{port: port} do
    open = fn socket ->
      assert RawHTTP.post(socket, initialize(1)).status in [200, 503]
      sessions()
    end

    rounds("sessions", port, open, &sessions/0)
  end

  test "parked calls", %{port: port} do
    capabilities = ~S("io.modelcontextprotocol/clientCapabilities":{)
    body = RawHTTP.body("tools/call", ~S("name":"wait","arguments":{}))
    body = String.replace(body, capabilities, capabilities <> ~S("roots":{}))

    open = fn socket ->
      response = RawHTTP.modern(socket, "tools/call", "", body: body, headers: [mcp_name: "wait"])

      assert response.body =~ "input_required"
      info(:parked)
    end

    rounds("parked calls", port, open, fn -> info(:parked) end)
  end

  test "listens", %{port: port} do
    body = RawHTTP.body("subscriptions/listen", ~S("notifications":{"toolsListChanged":true}))

    headers = [
      content_type: "application/json",
      accept: "application/json, text/event-stream",
      content_length: byte_size(body),
      mcp_protocol_version: "2026-07-28",
      mcp_method: "subscriptions/listen"
    ]

    open = fn _kept ->
      socket = RawHTTP.connect(port)
      # Gone without a word, and without a port that stays taken.
      :ok = :inet.setopts(socket, linger: {true, 0})
      RawHTTP.write(socket, "POST", "/mcp", headers, body)
      {:ok, "HTTP/1.1 200" <> _head} = :gen_tcp.recv(socket, 0, 5_000)
      :gen_tcp.close(socket)
      info(:subscriptions)
    end

    rounds("listens", port, open, fn -> info(:subscriptions) end)
  end

  defp rounds(what, port, open, count) do
    _warm = open_round(port, 2_000, open, count)
    [first, second] = for _ <- 1..2, do: open_round(port, @abandoned, open, count)

    for {name, %{most: most, memory: memory, resident: resident}} <- [
          first: first,
          second: second
        ] do
      IO.puts(
        "#{@abandoned} abandoned #{what}, #{name} round: at most #{most}, then #{memory} MiB, #{resident} MiB resident"
      )

      # A table that changes while it is counted may show a row twice.
      assert most <= @cap + div(@cap, 100)
    end

    assert second.memory <= first.memory + @slack_mib
    assert second.resident <= first.resident + @slack_mib
  end

  defp open_round(port, number, open, count) do
    most =
      1..@at_once
      |> Enum.map(fn _ -> Task.async(fn -> abandon(port, div(number, @at_once), open) end) end)
      |> Enum.map(&Task.await(&1, :infinity))
      |> Enum.max()

    wait_until(fn -> count.() == 0 end)
    wait_until(fn -> match?(%{calls: 0, tokens: 0, buffered_bytes: 0}, BeamMCP.info!(@name)) end)
    for pid <- Process.list(), do: :erlang.garbage_collect(pid)
    %{most: most, memory: div(:erlang.memory(:total), 1_048_576), resident: resident_mib()}
  end

  defp abandon(port, number, open) do
    socket = RawHTTP.connect(port)
    most = Enum.reduce(1..number, 0, fn _, most -> max(most, open.(socket)) end)
    :gen_tcp.close(socket)
    most
  end

  defp info(what), do: Map.fetch!(BeamMCP.info!(@name), what)

  defp sessions do
    [{_pid, %{table: table}}] = Registry.lookup(BeamMCP.Registry, {@name, SessionStore.ETS})
    :ets.info(table, :size)
  end

  defp resident_mib do
    [_all, kib] = Regex.run(~r/VmRSS:\s+(\d+)/, File.read!("/proc/self/status"))
    div(String.to_integer(kib), 1_024)
  end
end
