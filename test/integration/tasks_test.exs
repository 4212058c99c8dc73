Code.require_file("support/json.exs", __DIR__)

defmodule BeamMCP.TasksWireTest do
  # Tasks on the wire of HTTP: headers, owners by `authorize`, notifications on a stream of their own.
  use ExUnit.Case, async: false

  alias BeamMCP.{Context, ToolSpec}
  alias BeamMCP.Test.{EventStream, Json, RawHTTP, Wire}

  @moduletag :integration
  @name __MODULE__
  @meta ~s("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",) <>
          ~s("io.modelcontextprotocol/clientCapabilities":{"elicitation":{},) <>
          ~s("extensions":{"io.modelcontextprotocol/tasks":{}}}})

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      %{tools: [%ToolSpec{name: :job, task_support: :required}], resources: [], prompts: []}
    end

    def call(:job, _arguments, _context) do
      form = %{type: "object", properties: %{ok: %{type: "boolean"}}, required: ["ok"]}
      {:task, fn context -> {:ok, inspect(Context.elicit(context, "Go on?", form, key: :go))} end}
    end

    def authorize(request) do
      case List.keyfind(request.headers, "authorization", 0) do
        {_name, principal} -> {:ok, principal}
        nil -> :ok
      end
    end
  end

  setup_all do
    host = [catalog: Catalog, dispatch: &Catalog.call/3]
    http = [http: [authorize: &Catalog.authorize/1]]
    start_supervised!({BeamMCP, Keyword.merge(Wire.options(@name, http), host)})
    {:ok, port: Wire.port(@name)}
  end

  test "a task is begun, asked for, answered and done", %{port: port} do
    id = begin(port)
    assert %{"status" => "input_required", "inputRequests" => %{"go" => _}} = asking(port, id)
    answers = ~s("inputResponses":{"go":{"action":"accept","content":{"ok":true}}})
    assert %{status: 200, body: body} = post(port, "tasks/update", id, ~s(,#{answers}))
    assert %{"result" => %{"resultType" => "complete"}} = Json.decode!(body)
    assert %{"status" => "completed", "result" => result} = until(port, id, "completed")
    assert [%{"text" => ~S({:accept, %{"ok" => true}})}] = result["content"]
  end

  test "the header of a task names it", %{port: port} do
    id = begin(port)

    for {name, status, code} <- [{id, 200, nil}, {"another", 400, -32_020}, {nil, 400, -32_020}] do
      response = post(port, "tasks/get", id, "", mcp_name: name)
      assert response.status == status
      assert Json.decode!(response.body)["error"]["code"] == code
    end
  end

  test "a task is its owner's", %{port: port} do
    id = begin(port, authorization: "ada")

    for owner <- ["bob", nil], method <- ~w(tasks/get tasks/cancel tasks/update) do
      response = post(port, method, id, ~s(,"inputResponses":{}), authorization: owner)
      assert %{status: 200, body: body} = response
      assert Json.decode!(body)["error"]["code"] == -32_602
    end

    assert %{status: 200, body: body} = post(port, "tasks/get", id, "", authorization: "ada")
    assert Json.decode!(body)["result"]["taskId"] == id
  end

  test "malformed questions are refused", %{port: port} do
    for {method, params, status, code} <- [
          {"tasks/get", "", 200, -32_602},
          {"tasks/get", ~S("taskId":7,), 200, -32_602},
          {"tasks/update", ~S("taskId":"a",), 400, -32_020},
          {"tasks/list", "", 404, -32_601},
          {"tasks/result", "", 404, -32_601}
        ] do
      body = ~s({"jsonrpc":"2.0","id":1,"method":"#{method}","params":{#{params}#{@meta}}})
      response = RawHTTP.modern(port, method, "", body: body)
      assert {method, params, response.status} == {method, params, status}
      assert Json.decode!(response.body)["error"]["code"] == code
    end

    for responses <- [~S("inputResponses":null), ~S("inputResponses":[]), ~S("other":1)] do
      response = post(port, "tasks/update", "a", "," <> responses)
      assert Json.decode!(response.body)["error"]["message"] =~ "inputResponses"
    end

    # Without the extension.
    response = RawHTTP.modern(port, "tasks/get", ~S("taskId":"a"), headers: [mcp_name: "a"])
    assert response.status == 400
    assert Json.decode!(response.body)["error"]["code"] == -32_021
  end

  test "whoever listens to a task is told what it is now, and of each change", %{port: port} do
    id = begin(port)
    asking(port, id)
    stream = listen(port, ~s(["#{id}","#{id}","unknown"]))
    acknowledged = EventStream.next(stream).message["params"]
    assert acknowledged["notifications"] == %{"taskIds" => [id]}
    told = EventStream.next(stream).message

    assert %{"method" => "notifications/tasks", "params" => %{"status" => "input_required"}} =
             told

    assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1

    post(port, "tasks/cancel", id)
    assert %{"taskId" => ^id} = cancelled(stream)
    assert EventStream.silent?(stream)
    EventStream.close(stream)
  end

  test "nobody listens to another's task, and too many at a time are refused", %{port: port} do
    id = begin(port, authorization: "ada")
    stream = listen(port, ~s(["#{id}"]), authorization: "bob")
    assert EventStream.next(stream).message["params"]["notifications"] == %{}
    assert EventStream.silent?(stream)
    EventStream.close(stream)

    for {ids, word} <- [
          {~S("one"), "array"},
          {"[7]", "string"},
          {"[#{Enum.map_join(1..129, ",", &~s("#{&1}"))}]", "more than 128"}
        ] do
      body = listening(ids)
      response = RawHTTP.modern(port, "subscriptions/listen", "", body: body)
      assert %{"code" => -32_602, "message" => message} = Json.decode!(response.body)["error"]
      assert message =~ "taskIds" and message =~ word
    end

    without = RawHTTP.modern(port, "subscriptions/listen", ~S("notifications":{"taskIds":["a"]}))
    assert without.status == 400
    assert Json.decode!(without.body)["error"]["code"] == -32_021
  end

  # What it asks may have been told twice: it was news when the stream began, and it changed.
  defp cancelled(stream) do
    case EventStream.next(stream).message["params"] do
      %{"status" => "cancelled"} = task -> task
      %{"status" => "input_required"} -> cancelled(stream)
    end
  end

  defp begin(port, headers \\ []) do
    body = ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"job",#{@meta}}})
    headers = [mcp_name: "job"] ++ headers
    response = RawHTTP.modern(port, "tools/call", "", body: body, headers: headers)
    assert %{"resultType" => "task", "taskId" => id} = Json.decode!(response.body)["result"]
    id
  end

  defp asking(port, id), do: until(port, id, "input_required")

  defp until(port, id, status) do
    case Json.decode!(post(port, "tasks/get", id).body)["result"] do
      %{"status" => ^status} = task -> task
      %{"status" => _other} -> until(port, id, status)
    end
  end

  defp post(port, method, id, more \\ "", headers \\ []) do
    body =
      ~s({"jsonrpc":"2.0","id":1,"method":"#{method}","params":{"taskId":"#{id}"#{more},#{@meta}}})

    headers = Keyword.merge([mcp_name: id], headers)
    RawHTTP.modern(port, method, "", body: body, headers: headers)
  end

  defp listening(ids) do
    params = ~s("notifications":{"taskIds":#{ids}},#{@meta})
    ~s({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{#{params}}})
  end

  defp listen(port, ids, headers \\ []) do
    EventStream.post(port, "subscriptions/listen", listening(ids), headers)
  end
end
