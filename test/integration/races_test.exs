for file <- ~w(json message), do: Code.require_file("support/#{file}.exs", __DIR__)

defmodule BeamMCP.RacesTest do
  # Answer, cancellation, disconnect, deadline and the end of a session against each other, on the wire: at most one
  # answer, none once the handler was told that nobody waits, and nothing is left.
  use ExUnit.Case, async: false

  import BeamMCP.Test.Message

  alias BeamMCP.{Context, ToolSpec}
  alias BeamMCP.Test.{Json, RawHTTP}

  @moduletag :exhaustive
  @moduletag timeout: 300_000
  @name __MODULE__

  @schedules 1_000
  @at_once 20
  @window_ms 40

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      tools =
        for resume <- [:replay, :park], tool <- ~w(run ask) do
          %ToolSpec{
            name: "#{tool}_#{resume}",
            resume: resume,
            timeout_ms: 20,
            input_schema: %{type: "object"}
          }
        end

      patient = for tool <- tools, do: %{tool | name: "patient_#{tool.name}", timeout_ms: 5_000}
      %{tools: tools ++ patient, resources: [], prompts: []}
    end

    def call(name, arguments, context) do
      %{"schedule" => schedule, "ms" => ms} = arguments
      note = fn what -> :ets.insert(BeamMCP.RacesTest, {{schedule, what}}) end
      Context.on_cancel(context, fn -> note.(:cancelled) end)
      if name =~ "ask", do: Context.roots(context)
      Process.sleep(ms)
      {:ok, "done"}
    end
  end

  test "1,000 schedules leave at most one answer and nothing else" do
    :ets.new(@name, [:named_table, :public])
    listener = [port: 0, authorize: :none, allowed_origins: []]

    start_supervised!(
      {BeamMCP,
       name: @name,
       catalog: Catalog,
       dispatch: &Catalog.call/3,
       cancel_grace_ms: 50,
       request_state_ttl_ms: 300,
       http: [listener]}
    )

    [listener] = BeamMCP.info!(@name).listeners
    port = BeamMCP.Listener.port(listener)
    _warm = run(0, port)
    before = length(Process.list())
    seed = ExUnit.configuration()[:seed]

    outcomes =
      1..@schedules
      |> Task.async_stream(
        fn number ->
          :rand.seed(:exsss, {seed, number, 7})
          run(number, port)
        end,
        max_concurrency: @at_once,
        timeout: 30_000
      )
      |> Enum.map(fn {:ok, outcome} -> outcome end)

    for {schedule, answers} <- outcomes, do: check(schedule, answers)

    kinds = Enum.frequencies_by(outcomes, fn {schedule, answers} -> {schedule.end, answers} end)
    IO.puts("\nraces: #{inspect(kinds, limit: :infinity)}")

    for ending <- [:answer, :cancel, :leave, :delete],
        do: assert(Enum.any?(kinds, &(elem(elem(&1, 0), 0) == ending)))

    idle(before)
  end

  # A schedule: what is called, how long its handler takes, and what ends it when.
  defp schedule(number) do
    era = Enum.random([:modern, :legacy])

    %{
      number: number,
      era: era,
      tool: Enum.random(~w(run_replay run_park ask_replay ask_park)),
      patient: Enum.random([true, false]),
      ms: :rand.uniform(@window_ms) - 1,
      end:
        Enum.random(
          [:answer, :leave] ++ if(era == :legacy, do: [:cancel, :delete], else: [:leave])
        ),
      at: :rand.uniform(@window_ms) - 1
    }
  end

  defp run(number, port) do
    schedule = schedule(number)
    session = if schedule.era == :legacy, do: session(port), else: []
    socket = RawHTTP.connect(port)
    send_call(socket, schedule, session, "")
    ending(schedule, socket, session, port)
    answers = answers(schedule, socket, session, port)
    :gen_tcp.close(socket)
    answers = Enum.map(answers, &second_round(&1, schedule, port))

    if schedule.end != :delete and session != [],
      do: RawHTTP.request(port, "DELETE", "/mcp", session)

    {schedule, answers}
  end

  # A 2026 client that was asked comes back, and the same ends this round.
  defp second_round(%{"result" => %{"requestState" => state}}, schedule, port) do
    socket = RawHTTP.connect(port)
    responses = ~S("inputResponses":{"input-1":{"roots":[]}})
    send_call(socket, schedule, [], ~s(,#{responses},"requestState":"#{state}"))
    ending(schedule, socket, [], port)
    answers = answers(schedule, socket, [], port)
    :gen_tcp.close(socket)
    {:asked, Enum.map(answers, &word/1)}
  end

  defp second_round(answer, _schedule, _port), do: word(answer)

  defp send_call(socket, %{era: era} = schedule, session, more) do
    tool = if schedule.patient, do: "patient_#{schedule.tool}", else: schedule.tool
    arguments = ~s({"schedule":#{schedule.number},"ms":#{schedule.ms}})
    params = ~s("name":"#{tool}","arguments":#{arguments}#{more})

    {body, headers} =
      case era do
        :modern ->
          capabilities = ~S("io.modelcontextprotocol/clientCapabilities":{)
          body = RawHTTP.body("tools/call", params, "7")
          modern = [mcp_protocol_version: "2026-07-28", mcp_method: "tools/call", mcp_name: tool]
          {String.replace(body, capabilities, capabilities <> ~S("roots":{})), modern}

        :legacy ->
          {legacy(7, "tools/call", "{#{params}}"), session}
      end

    headers =
      [
        content_type: "application/json",
        accept: "application/json, text/event-stream",
        content_length: byte_size(body)
      ] ++ headers

    :ok = RawHTTP.write(socket, "POST", "/mcp", headers, body)
  end

  defp ending(%{end: :answer}, _socket, _session, _port), do: :ok

  defp ending(schedule, socket, session, port) do
    Process.sleep(schedule.at)

    case schedule.end do
      :leave -> :gen_tcp.shutdown(socket, :write)
      :cancel -> assert RawHTTP.post(port, cancel(7), headers: session).status == 202
      :delete -> assert RawHTTP.request(port, "DELETE", "/mcp", session).status in [200, 204]
    end
  end

  # What comes for the call. A legacy client answers what it is asked.
  defp answers(schedule, socket, session, port, read \\ "") do
    case :gen_tcp.recv(socket, 0, 400) do
      {:ok, more} ->
        read = read <> more
        respond(more, session, port)
        if over?(read), do: messages(read), else: answers(schedule, socket, session, port, read)

      {:error, _closed_or_silent} ->
        messages(read)
    end
  end

  defp respond(more, session, port) do
    for [_all, id] <- Regex.scan(~r/"id":"([^"]+)","method":"roots\/list"/, more) do
      RawHTTP.post(port, ~s({"jsonrpc":"2.0","id":"#{id}","result":{"roots":[]}}),
        headers: session
      )
    end
  end

  # The answer, and then some time for what must not follow.
  defp over?(read), do: String.ends_with?(read, "0\r\n\r\n") or read =~ ~r/\r\n\r\n\{.*\}\z/s

  defp messages(read) do
    for line <- String.split(read, ["\n", "\r\n"]),
        line = String.replace_prefix(line, "data: ", ""),
        String.starts_with?(line, "{"),
        %{"id" => 7} = message <- [Json.decode!(line)],
        not Map.has_key?(message, "method"),
        do: message
  end

  defp word(%{"result" => %{"isError" => true}}), do: :failed
  defp word(%{"result" => %{"content" => [%{"text" => "done"}]}}), do: :done

  defp check(schedule, answers) do
    cancelled? = :ets.member(@name, {schedule.number, :cancelled})
    assert length(answers) <= 1, inspect({schedule, answers})

    assert Enum.all?(answers, &(not match?({:asked, [_, _ | _]}, &1))),
           inspect({schedule, answers})

    # Told that nobody waits, a handler answers nobody.
    if cancelled?, do: refute(done?(answers), inspect({schedule, answers}))
    if schedule.end == :answer, do: assert(length(answers) == 1, inspect(schedule))

    if schedule.end in [:cancel, :delete] and cancelled? and answers != [],
      do: assert(answers == [:failed] and not schedule.patient, inspect({schedule, answers}))
  end

  defp done?(answers), do: :done in answers or {:asked, [:done]} in answers

  defp session(port) do
    hello = String.replace(initialize(1), ~s("capabilities":{}), ~S("capabilities":{"roots":{}}))
    [id] = port |> RawHTTP.post(hello) |> RawHTTP.header_values("mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"]
  end

  # The rest of a response whose client may come back for it is kept for a minute.
  defp idle(before, left \\ 4_000) do
    info =
      Map.take(BeamMCP.info!(@name), [
        :calls,
        :tokens,
        :parked,
        :streams,
        :subscriptions,
        :connections,
        :buffered_bytes
      ])

    processes = length(Process.list())

    cond do
      Enum.all?(info, fn {_what, count} -> count == 0 end) and processes <= before and
          sessions() == 0 ->
        :ok

      left == 0 ->
        flunk("left: #{inspect(info)}, #{processes - before} processes, #{sessions()} sessions")

      true ->
        Process.sleep(20) && idle(before, left - 1)
    end
  end

  defp sessions do
    [{_pid, %{table: table}}] =
      Registry.lookup(BeamMCP.Registry, {@name, BeamMCP.SessionStore.ETS})

    :ets.info(table, :size)
  end
end
