defmodule BeamMCP.TelemetryTest do
  use ExUnit.Case, async: false

  alias BeamMCP.{Context, Telemetry}
  alias BeamMCP.Fixture.{Catalog, Client, Tools}

  setup do
    test = self()

    :telemetry.attach(fn event, measurements, metadata ->
      send(test, {event, measurements, metadata})
    end)

    on_exit(&:telemetry.detach/0)
  end

  test "the documentation names every event" do
    {:docs_v1, _, _, _, %{"en" => documentation}, _, _} = Code.fetch_docs(Telemetry)
    for event <- Telemetry.events(), do: assert(documentation =~ "`#{inspect(event)}`")
  end

  describe "dispatch" do
    @context %Context{instance: :i, call: 1, request_id: 2, revision: "r", transport: :http}
    @identity %{
      instance: :i,
      call: 1,
      tool: :t,
      request_id: 2,
      revision: "r",
      transport: :http,
      principal: :anonymous
    }

    test "is a span around the dispatch function" do
      assert Telemetry.dispatch({:tool, :t}, @context, %{}, fn -> :result end) == :result

      assert_received {[:beam_mcp, :dispatch, :start], %{system_time: _, monotonic_time: _},
                       @identity}

      assert_received {[:beam_mcp, :dispatch, :stop], %{duration: duration}, @identity}
      assert duration >= 0
    end

    test "ends with the class of an exception, not its message" do
      assert_raise RuntimeError, fn ->
        Telemetry.dispatch({:tool, :t}, @context, %{}, fn -> raise "swordfish" end)
      end

      assert_received {[:beam_mcp, :dispatch, :exception], %{duration: _}, metadata}
      assert metadata == Map.merge(@identity, %{kind: :error, reason: RuntimeError})

      assert catch_exit(
               Telemetry.dispatch({:tool, :t}, @context, %{}, fn -> exit("swordfish") end)
             ) ==
               "swordfish"

      assert_received {[:beam_mcp, :dispatch, :exception], _measurements,
                       %{kind: :exit, reason: nil}}
    end
  end

  test "a served request and its connection are told, with identity and sizes only", context do
    options = [
      name: context.test,
      catalog: Catalog,
      dispatch: &Tools.call/3,
      http: [authorize: :none, allowed_origins: [], port: 0]
    ]

    start_supervised!({BeamMCP, options})
    socket = Client.connect(context.test)
    {200, _body} = Client.call(socket, "echo", ~s({"value":"swordfish"}))

    {_status, _body} =
      Client.call(socket, "echo", ~s({"value":1}), headers: [{"mcp-name", "other"}])

    Client.close(socket)

    assert_receive {[:beam_mcp, :connection, :start], %{system_time: _},
                    %{peer: {{127, 0, 0, 1}, _port}}}

    assert_receive {[:beam_mcp, :request, :start], %{system_time: _}, %{method: "tools/call"}}
    assert_receive {[:beam_mcp, :request, :stop], measurements, %{status: 200} = metadata}
    assert %{duration: _, request_bytes: _, response_bytes: _} = measurements

    assert %{tool: "echo", transport: _, revision: "2026-07-28", code: nil, refusal: nil} =
             metadata

    assert_receive {[:beam_mcp, :request, :refused], _measurements, %{status: 400, code: -32_020}}
    assert_receive {[:beam_mcp, :connection, :stop], %{requests: 2}, %{reason: _}}
    refute inspect({measurements, metadata}) =~ "swordfish"
  end

  test "reads, prompts and completions are told by names of their own", context do
    say = fn _asked -> {:ok, ["said"]} end
    alias BeamMCP.{PromptSpec, ResourceTemplateSpec}

    start_supervised!(
      {BeamMCP,
       name: context.test,
       http: [authorize: :none, allowed_origins: [], port: 0],
       registrations: [
         {:template, %ResourceTemplateSpec{uri_template: "t:{x}", name: "t"},
          fn _asked -> {:ok, "said"} end},
         {:prompt, %PromptSpec{name: :p}, fn _asked -> {:ok, "said"} end},
         {:completion, {:resource, "t:{x}"}, say}
       ]}
    )

    socket = Client.connect(context.test)
    ask = &Client.request(socket, &1, &2, headers: [{"mcp-name", &3}])

    {200, _body} = ask.("resources/read", ~s("uri":"t:1"), "t:1")
    assert_receive {[:beam_mcp, :dispatch, :start], %{}, %{resource: "t:{x}"} = metadata}
    refute is_map_key(metadata, :tool)

    assert_receive {[:beam_mcp, :request, :stop], %{},
                    %{resource: "t:{x}", tool: nil, prompt: nil}}

    {200, _body} = ask.("prompts/get", ~s("name":"p"), "p")
    assert_receive {[:beam_mcp, :dispatch, :stop], %{}, %{prompt: :p}}
    assert_receive {[:beam_mcp, :request, :stop], %{}, %{prompt: "p", resource: nil}}

    ref = ~s("ref":{"type":"ref/resource","uri":"t:{x}"})
    argument = ~s("argument":{"name":"x","value":""})
    {200, _body} = Client.request(socket, "completion/complete", ref <> "," <> argument)
    assert_receive {[:beam_mcp, :dispatch, :stop], %{}, %{completion: {:resource, "t:{x}"}}}
    assert_receive {[:beam_mcp, :request, :stop], %{}, %{tool: nil, resource: nil, prompt: nil}}
  end
end
