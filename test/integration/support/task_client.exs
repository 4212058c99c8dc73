defmodule BeamMCP.Test.TaskClient do
  @moduledoc false
  # A client of `BeamMCP.Test.TaskHost` that takes tasks, over HTTP, on whatever node it likes.

  alias BeamMCP.Test.{EventStream, Json, RawHTTP}

  @meta ~s("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",) <>
          ~s("io.modelcontextprotocol/clientCapabilities":{"elicitation":{},) <>
          ~s("extensions":{"io.modelcontextprotocol/tasks":{}}}})

  @doc "Calls a tool; the id of the task that its call becomes."
  def begin(one, tool) do
    response = call(one, tool)
    %{"resultType" => "task", "taskId" => id} = Json.decode!(response.body)["result"]
    id
  end

  @doc "Calls a tool; the response."
  def call(one, tool), do: post(one, "tools/call", tool, ~s("name":"#{tool}"))

  @doc "The task as a node tells it."
  def get(one, id), do: Json.decode!(ask(one, "tasks/get", id).body)["result"]

  @doc "The response to a question about a task; `more` are members of its params."
  def ask(one, method, id, more \\ ""), do: post(one, method, id, ~s("taskId":"#{id}"#{more}))

  @doc "The task once it has a status."
  def await(one, id, status) do
    case get(one, id) do
      %{"status" => ^status} = task -> task
      %{"status" => _other} -> Process.sleep(20) && await(one, id, status)
    end
  end

  @doc "The text of a task's result."
  def text(%{"result" => %{"content" => [%{"text" => text}]}}), do: text

  @doc "Opens a stream of a task's changes, past its acknowledgement."
  def listen(one, id) do
    body = body("subscriptions/listen", ~s("notifications":{"taskIds":["#{id}"]}))
    stream = EventStream.post(one.port, "subscriptions/listen", body)
    %{"params" => %{"notifications" => %{"taskIds" => [^id]}}} = EventStream.next(stream).message
    stream
  end

  defp post(one, method, name, params) do
    options = [body: body(method, params), headers: [mcp_name: name]]
    RawHTTP.modern(one.port, method, "", options)
  end

  defp body(method, params),
    do: ~s({"jsonrpc":"2.0","id":1,"method":"#{method}","params":{#{params},#{@meta}}})
end
