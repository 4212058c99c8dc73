defmodule BeamMCP.ParkingTest do
  # Handlers that wait for their client between two calls, and what becomes of those that are lost.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.{Context, PromptSpec, ResourceSpec, Test, ToolSpec}

  @form %{type: "object", properties: %{name: %{type: "string"}}, required: ["name"]}
  @ada %{action: "accept", content: %{name: "Ada"}}
  @able %{elicitation: %{}, roots: %{}}

  test "a parked handler goes on where it was" do
    client = client(greeting())
    assert %{"resultType" => "input_required"} = round = call(client)
    assert_receive {:running, handler}
    assert %{parked: 1, calls: 0, tokens: 0} = BeamMCP.info!(client.instance)
    assert text(call(client, round, %{"input-1" => @ada})) == "Hello Ada"
    assert_received {:asked, ^handler}
    refute_received {:running, _again}
    idle(client)
  end

  test "the client's rounds are its own affair" do
    for revision <- ~w(2026-07-28 2025-11-25 2025-06-18) do
      client = client(greeting(), revision: revision)
      Test.answer_with(client, fn "elicitation/create", _params -> {:accept, %{name: "Ada"}} end)
      assert {:ok, result} = Test.call_tool(client, :greet)
      assert text(result) == "Hello Ada"
      assert_received {:running, _handler}
      refute_received {:running, _again}
      idle(client)
    end
  end

  test "several questions, and answers that are missing, in one life" do
    client =
      client(fn _arguments, context ->
        {:accept, %{"name" => first}} = Context.elicit(context, "First?", @form)
        {:ok, roots} = Context.roots(context)
        {:accept, %{"name" => last}} = Context.elicit(context, "Last?", @form)
        {:ok, "#{first} #{last} #{length(roots)}"}
      end)

    first = call(client)
    again = call(client, first, %{})
    assert again["inputRequests"] == first["inputRequests"]
    second = call(client, again, %{"input-1" => @ada})
    assert %{"input-2" => %{"method" => "roots/list"}} = second["inputRequests"]
    third = call(client, second, %{"input-2" => %{roots: []}})
    assert %{parked: 1} = BeamMCP.info!(client.instance)
    lovelace = %{action: "accept", content: %{name: "Lovelace"}}
    assert text(call(client, third, %{"input-3" => lovelace})) == "Ada Lovelace 0"
    idle(client)
  end

  test "prompts and resources park too" do
    ask = fn _asked, context ->
      {:accept, %{"name" => name}} = Context.elicit(context, "Who?", @form)
      {:ok, name}
    end

    client =
      Test.start!(
        [
          registrations: [
            {:prompt, %PromptSpec{name: :who, resume: :park}, ask},
            {:resource, %ResourceSpec{uri: "a:b", name: "b", resume: :park}, ask}
          ]
        ],
        capabilities: @able
      )

    for {method, params} <- [
          {"prompts/get", %{name: :who}},
          {"resources/read", %{uri: "a:b"}}
        ] do
      {:ok, round} = Test.request(client, method, params)
      assert %{parked: 1} = BeamMCP.info!(client.instance)
      {:ok, result} = Test.request(client, method, answered(params, round, %{"input-1" => @ada}))
      assert inspect(result) =~ "Ada"
      idle(client)
    end
  end

  test "what a handler tells after it was parked reaches the call that runs" do
    client =
      client(fn _arguments, context ->
        :ok = Context.progress(context, 1)
        {:accept, _content} = Context.elicit(context, "Who?", @form)
        :ok = Context.progress(context, 2)
        task = Task.async(fn -> Context.progress(context, 3) end)
        :ok = Task.await(task)
        {:error, :not_increasing} = Context.progress(context, 1)
        true = Context.supports?(context, :form)
        false = Context.cancelled?(context)
        {:ok, "told"}
      end)

    round = call(client)
    assert [%{"progress" => 1}] = Test.progress(client)
    assert text(call(client, round, %{"input-1" => @ada})) == "told"
    assert [%{"progress" => 2}, %{"progress" => 3}] = Test.progress(client)
  end

  test "one that was lost is run again with the answers" do
    client = client(greeting())
    round = call(client)
    assert_receive {:running, handler}
    Process.exit(handler, :kill)
    idle(client)
    assert text(call(client, round, %{"input-1" => @ada})) == "Hello Ada"
    assert_received {:running, again}
    assert again != handler
    idle(client)
  end

  test "who came back leaves no timer behind, nor does one that was lost" do
    client = client(greeting(), [], request_state_ttl_ms: 200)
    [{parking, _table}] = Registry.lookup(BeamMCP.Registry, {client.instance, BeamMCP.Parking})
    round = call(client)
    assert text(call(client, round, %{"input-1" => @ada})) == "Hello Ada"
    assert_received {:running, _handler}
    call(client)
    assert_receive {:running, handler}
    Process.exit(handler, :kill)
    idle(client)
    assert :sys.get_state(parking).places == %{}
    :erlang.trace(parking, true, [:receive])
    refute_receive {:trace, ^parking, :receive, {:expire, _id}}, 400
  end

  test "the same round a second time runs it again" do
    client = client(greeting())
    round = call(client)
    for _ <- 1..2, do: assert(text(call(client, round, %{"input-1" => @ada})) == "Hello Ada")
    assert_received {:running, _first}
    assert_received {:running, _second}
    idle(client)
  end

  test "without room a handler is run again" do
    for options <- [[max_parked: 1], [max_parked: 0]] do
      client = client(greeting(), [], options)
      rounds = for _ <- 1..3, do: call(client)
      assert BeamMCP.info!(client.instance).parked == options[:max_parked]

      for round <- rounds,
          do: assert(text(call(client, round, %{"input-1" => @ada})) == "Hello Ada")

      idle(client)
    end
  end

  test "each principal has room of its own" do
    client = client(greeting(), [principal: "ada"], max_parked_per_principal: 1)
    bob = Test.connect!(client.instance, principal: "bob", capabilities: @able)
    for one <- [client, client, bob], do: call(one)
    assert BeamMCP.info!(client.instance).parked == 2
  end

  test "a handler that waits too long ends, its clean-up runs" do
    test = self()

    client =
      client(
        fn _arguments, context ->
          try do
            Context.elicit(context, "Who?", @form)
          after
            send(test, :cleaned_up)
          end
        end,
        [],
        request_state_ttl_ms: 100
      )

    round = call(client)
    assert_receive :cleaned_up, 2_000
    idle(client)
    # What the client carries expires a little later than what waits for it.
    Process.sleep(150)
    params = answered(%{name: :greet}, round, %{"input-1" => @ada})
    assert {:error, %{code: -32_602}} = Test.request(client, "tools/call", params)
  end

  test "a cancelled call takes its handler along" do
    test = self()

    client =
      client(fn _arguments, context ->
        Context.on_cancel(context, fn -> send(test, :cancelled) end)
        Context.elicit(context, "Who?", @form)
        send(test, {:resumed, self()})
        Process.sleep(:infinity)
      end)

    round = call(client)
    params = answered(%{name: :greet}, round, %{"input-1" => @ada})
    request = Test.send_request(client, "tools/call", params)
    assert_receive {:resumed, handler}
    monitor = Process.monitor(handler)
    :ok = Test.cancel(request)
    assert Test.await(request) == :cancelled
    assert_receive :cancelled
    assert_receive {:DOWN, ^monitor, :process, ^handler, _reason}, 2_000
    idle(client)
  end

  test "one that ends by itself runs no clean-up for cancellations" do
    test = self()

    client =
      client(fn _arguments, context ->
        Context.on_cancel(context, fn -> send(test, :cancelled) end)
        {:accept, _content} = Context.elicit(context, "Who?", @form)
        {:ok, "done"}
      end)

    assert text(call(client, call(client), %{"input-1" => @ada})) == "done"
    idle(client)
    refute_receive :cancelled, 100
  end

  test "faults cost the call" do
    for {fault, reported} <- [
          {fn -> raise "on purpose" end, "on purpose"},
          {fn -> Process.exit(self(), :kill) end, ""},
          {fn -> {:ok, self()} end, "cannot be sent"}
        ] do
      client =
        client(fn _arguments, context ->
          {:accept, _content} = Context.elicit(context, "Who?", @form)
          fault.()
        end)

      round = call(client)

      log =
        capture_log(fn ->
          assert %{"isError" => true} = call(client, round, %{"input-1" => @ada})
        end)

      assert log =~ reported
      idle(client)
    end
  end

  test "another process cannot ask, a client that cannot be asked is told" do
    client =
      client(fn _arguments, context ->
        task = Task.async(fn -> catch_error(Context.roots(context)) end)
        %ArgumentError{message: message} = Task.await(task)
        {:ok, message}
      end)

    assert {:ok, result} = Test.call_tool(client, :greet)
    assert text(result) =~ "only the process that runs the handler"

    client = client(greeting(), capabilities: %{})
    assert {:error, %{code: -32_021}} = Test.call_tool(client, :greet)
    idle(client)
  end

  test "an instance that stops takes parked handlers along" do
    client = client(greeting())
    call(client)
    assert_receive {:running, handler}
    monitor = Process.monitor(handler)
    :ok = BeamMCP.stop(client.instance)
    assert_receive {:DOWN, ^monitor, :process, ^handler, {:shutdown, :parking}}
  end

  test "a parking that dies takes along those who wait, and the next one serves" do
    client = client(greeting())
    round = call(client)
    assert_receive {:running, handler}
    monitor = Process.monitor(handler)

    Process.exit(parking(client), :kill)
    assert_receive {:DOWN, ^monitor, :process, ^handler, :normal}, 2_000
    assert text(call(client, round, %{"input-1" => @ada})) == "Hello Ada"
    assert %{"resultType" => "input_required"} = call(client)
    assert %{parked: 1} = BeamMCP.info!(client.instance)
  end

  test "a call that comes while the parking starts again waits for it" do
    client = client(greeting())
    parking = parking(client)
    {:dictionary, dictionary} = Process.info(parking, :dictionary)
    [services | _ancestors] = dictionary[:"$ancestors"]
    :sys.suspend(services)
    Process.exit(parking, :kill)
    call = Task.async(fn -> call(client) end)
    refute Task.yield(call, 100)
    :sys.resume(services)
    assert %{"resultType" => "input_required"} = round = Task.await(call)
    assert text(call(client, round, %{"input-1" => @ada})) == "Hello Ada"
  end

  test "a handler that entered a parking before it died is run again, and the next one lives" do
    test = self()

    client =
      client(fn _arguments, context ->
        send(test, {:running, self()})
        receive do: (:go_on -> :ok)
        {:accept, %{"name" => name}} = Context.elicit(context, "Who?", @form)
        {:ok, "Hello #{name}"}
      end)

    call = Task.async(fn -> call(client) end)
    assert_receive {:running, handler}
    died = parking(client)
    Process.exit(died, :kill)
    next = wait_for(fn -> with ^died <- parking(client), do: nil end)
    send(handler, :go_on)
    assert %{"resultType" => "input_required"} = round = Task.await(call)
    answered = Task.async(fn -> call(client, round, %{"input-1" => @ada}) end)
    assert_receive {:running, again}
    send(again, :go_on)
    assert text(Task.await(answered)) == "Hello Ada"
    assert parking(client) == next
    idle(client)
  end

  test "what is neither mode is refused by name" do
    assert {:error, %{message: message}} =
             BeamMCP.register_tool(
               client(greeting()).instance,
               %ToolSpec{name: :other, resume: :later},
               fn _ -> {:ok, ""} end
             )

    assert message =~ "resume: must be :replay or :park"
  end

  defp parking(client),
    do: GenServer.whereis(BeamMCP.Instance.via(client.instance, BeamMCP.Parking))

  defp wait_for(found, left \\ 200) do
    found.() ||
      (left > 0 && Process.sleep(10) && wait_for(found, left - 1)) || flunk("it never came true")
  end

  defp greeting do
    test = self()

    fn _arguments, context ->
      send(test, {:running, self()})
      {:accept, %{"name" => name}} = Context.elicit(context, "Who?", @form)
      send(test, {:asked, self()})
      {:ok, "Hello #{name}"}
    end
  end

  defp client(handler, client \\ [], options \\ []) do
    tool = {:tool, %ToolSpec{name: :greet, resume: :park}, handler}
    Test.start!([registrations: [tool]] ++ options, Keyword.merge([capabilities: @able], client))
  end

  defp call(client) do
    {:ok, round} = Test.request(client, "tools/call", %{name: :greet})
    round
  end

  defp call(client, round, responses) do
    {:ok, result} =
      Test.request(client, "tools/call", answered(%{name: :greet}, round, responses))

    result
  end

  defp answered(params, round, responses) do
    Map.merge(params, %{inputResponses: responses, requestState: round["requestState"]})
  end

  defp text(%{"content" => [%{"text" => text}]}), do: text

  defp idle(client, left \\ 200) do
    case BeamMCP.info!(client.instance) do
      %{parked: 0, calls: 0, tokens: 0} -> :ok
      info when left == 0 -> flunk(inspect(info))
      _busy -> Process.sleep(10) && idle(client, left - 1)
    end
  end
end
