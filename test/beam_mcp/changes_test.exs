defmodule BeamMCP.ChangesTest do
  use ExUnit.Case, async: true

  import BeamMCP.Test.Until

  alias BeamMCP.Test.{EventStream, RawHTTP, Wire}
  alias BeamMCP.{Error, PromptSpec, ResourceSpec, ToolSpec}

  defmodule Catalog do
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities,
      do: %{tools: :persistent_term.get(__MODULE__, []), resources: [], prompts: []}
  end

  @everything %{
    toolsListChanged: true,
    resourcesListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: ["test://dir"]
  }

  setup context do
    name = context.test

    start_supervised!(
      {BeamMCP,
       [
         name: name,
         catalog: Catalog,
         dispatch: fn _name, _arguments -> {:ok, ""} end,
         registrations: [
           {:tool, %ToolSpec{name: "tool"}, &__MODULE__.ok/1},
           {:resource, %ResourceSpec{uri: "test://dir", name: "dir"}, &__MODULE__.ok/1},
           {:prompt, %PromptSpec{name: "prompt"}, &__MODULE__.ok/1}
         ],
         http: [port: 0, authorize: :none, allowed_origins: []]
       ]}
    )

    {:ok, name: name, port: Wire.port(name)}
  end

  describe "what is registered" do
    test "tells by itself, list by list", %{name: name, port: port} do
      {stream, honoured} = EventStream.listen(port, @everything)
      assert map_size(honoured) == 4

      :ok = BeamMCP.register_tool(name, %ToolSpec{name: "more"}, &__MODULE__.ok/1)
      assert EventStream.method(stream) == "notifications/tools/list_changed"

      :ok = BeamMCP.register_prompt(name, %PromptSpec{name: "more"}, &__MODULE__.ok/1)
      assert EventStream.method(stream) == "notifications/prompts/list_changed"

      :ok =
        BeamMCP.register_resource(
          name,
          %ResourceSpec{uri: "test://b", name: "b"},
          &__MODULE__.ok/1
        )

      assert EventStream.method(stream) == "notifications/resources/list_changed"

      :ok = BeamMCP.unregister(name, :tool, "more")
      assert EventStream.method(stream) == "notifications/tools/list_changed"

      :ok = BeamMCP.register_completion(name, {:prompt, "prompt"}, ["a"])
      assert EventStream.silent?(stream), "no list shows completions"
    end

    test "says nothing where nothing changes", %{name: name, port: port} do
      {stream, _} = EventStream.listen(port, @everything)
      :ok = BeamMCP.register_tool(name, %ToolSpec{name: "tool"}, &__MODULE__.ok/1)
      :ok = BeamMCP.catalog_changed(name)
      assert {:error, %Error{kind: :not_registered}} = BeamMCP.unregister(name, :tool, "none")
      assert EventStream.silent?(stream)
    end

    test "says nothing to whom it does not concern", %{name: name, port: port} do
      {stream, _} = EventStream.listen(port, %{promptsListChanged: true, toolsListChanged: false})
      :ok = BeamMCP.register_tool(name, %ToolSpec{name: "more"}, &__MODULE__.ok/1)
      assert EventStream.silent?(stream)
    end
  end

  test "a catalog that is read again tells of the lists that differ", %{name: name, port: port} do
    {stream, _} = EventStream.listen(port, @everything)
    on_exit(fn -> :persistent_term.erase(Catalog) end)
    :persistent_term.put(Catalog, [%ToolSpec{name: "declared"}])
    :ok = BeamMCP.catalog_changed(name)
    assert EventStream.method(stream) == "notifications/tools/list_changed"
    assert EventStream.silent?(stream)
  end

  describe "notify_changed/2 and notify_resource_updated/3" do
    test "tell of what the host alone knows", %{name: name, port: port} do
      {stream, _} = EventStream.listen(port, @everything)

      for list <- [:tools, :resources, :prompts] do
        assert BeamMCP.notify_changed(name, list) == :ok
        assert EventStream.method(stream) == "notifications/#{list}/list_changed"
      end

      assert BeamMCP.notify_resource_updated(name, "test://dir") == :ok
      message = EventStream.next(stream).message
      assert message["method"] == "notifications/resources/updated"
      assert message["params"]["uri"] == "test://dir"
      assert message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
    end

    test "tell of parts of what was subscribed to", %{name: name, port: port} do
      {stream, _} = EventStream.listen(port, @everything)
      assert BeamMCP.notify_resource_updated(name, "test://dir/a") == :ok
      assert BeamMCP.notify_resource_updated(name, "test://dir/a", within: "test://dir") == :ok
      assert EventStream.next(stream).message["params"]["uri"] == "test://dir/a"
      assert EventStream.silent?(stream)
    end

    test "name what is wrong", %{name: name} do
      assert {:error, %Error{kind: :uri} = error} =
               BeamMCP.notify_resource_updated(name, "no uri")

      assert Exception.message(error) =~ "no uri"
      assert {:error, %Error{kind: :not_running}} = BeamMCP.notify_changed(:nobody, :tools)
      assert {:error, %Error{kind: :not_running}} = BeamMCP.notify_resource_updated(:no, "a:b")

      assert_raise ArgumentError, fn ->
        BeamMCP.notify_resource_updated(name, "a:b", of: "a:c")
      end

      # By its name, or newer compilers see what is wrong.
      assert_raise FunctionClauseError, fn ->
        apply(BeamMCP, :notify_changed, [name, :completions])
      end
    end
  end

  test "streams are counted, and end when the instance drains", %{name: name, port: port} do
    {stream, _} = EventStream.listen(port, @everything)
    assert %{streams: 1, subscriptions: 1} = BeamMCP.info!(name)
    assert BeamMCP.drain(name, 2_000) == {:ok, 0}
    assert EventStream.next(stream).message["result"]["resultType"] == "complete"
    assert EventStream.next(stream) == :end
    assert %{streams: 0, subscriptions: 0} = BeamMCP.info!(name)
  end

  describe "a legacy session" do
    setup %{port: port}, do: {:ok, session: Wire.session(port)}

    test "subscribes, hears and unsubscribes", %{name: name, port: port, session: session} do
      stream = EventStream.get(port, session)
      assert %{message: nil, text: "id: " <> _ = text} = EventStream.next(stream)
      assert text =~ "retry: "

      assert request(port, session, "resources/subscribe", "test://dir") == %{}
      :ok = BeamMCP.notify_resource_updated(name, "test://dir")
      message = EventStream.next(stream).message
      assert message["params"] == %{"uri" => "test://dir"}

      assert request(port, session, "resources/unsubscribe", "test://dir") == %{}
      :ok = BeamMCP.notify_resource_updated(name, "test://dir")
      assert EventStream.silent?(stream)
    end

    test "resumes where its stream broke off", %{name: name, port: port, session: session} do
      stream = EventStream.get(port, session)
      %{id: primed} = EventStream.next(stream)
      :ok = BeamMCP.notify_changed(name, :tools)
      %{id: seen} = EventStream.next(stream)
      assert seen != primed
      EventStream.close(stream)
      wait_until(fn -> BeamMCP.info!(name).streams == 0 end)
      :ok = BeamMCP.notify_changed(name, :prompts)

      stream = EventStream.get(port, session, primed)
      assert %{id: ^seen, message: replayed} = EventStream.next(stream)
      assert replayed["method"] == "notifications/tools/list_changed"
      assert %{message: nil} = EventStream.next(stream)
      assert EventStream.method(stream) == "notifications/prompts/list_changed"
    end

    test "has its stream until it is deleted", %{port: port, session: session} do
      stream = EventStream.get(port, session)
      %{message: nil} = EventStream.next(stream)
      assert RawHTTP.request(port, "DELETE", "/mcp", session).status == 204
      assert EventStream.next(stream) == :end
      headers = [accept: "text/event-stream"] ++ session
      assert RawHTTP.request(port, "GET", "/mcp", headers).status == 404
    end

    test "keeps so many bytes of what it subscribed to", %{port: port, session: session} do
      uri = fn number -> "a:" <> String.pad_leading("#{number}", 4_094, "0") end

      for number <- 1..16,
          do: assert(request(port, session, "resources/subscribe", uri.(number)) == %{})

      assert %{"code" => -32_602, "message" => message} =
               request(port, session, "resources/subscribe", "a:b")

      assert message =~ "65536"
      assert request(port, session, "resources/unsubscribe", uri.(1)) == %{}
      assert request(port, session, "resources/subscribe", "a:b") == %{}
    end

    test "subscribes to many resources at once and keeps them all", context do
      %{name: name, port: port, session: session} = context

      1..20
      |> Enum.map(&Task.async(fn -> request(port, session, "resources/subscribe", "a:#{&1}") end))
      |> Task.await_many()

      stream = EventStream.get(port, session)
      EventStream.next(stream)
      for number <- 1..20, do: :ok = BeamMCP.notify_resource_updated(name, "a:#{number}")
      uris = for _ <- 1..20, do: EventStream.next(stream).message["params"]["uri"]
      assert Enum.sort(uris) == Enum.sort(for number <- 1..20, do: "a:#{number}")
    end
  end

  @doc false
  def ok(_arguments), do: {:ok, "ok"}

  defp request(port, session, method, uri) do
    body = ~s({"jsonrpc":"2.0","id":7,"method":"#{method}","params":{"uri":"#{uri}"}})
    {:ok, message} = port |> RawHTTP.post(body, headers: session) |> Map.fetch!(:body) |> decode()
    message["result"] || message["error"]
  end

  defp decode(body), do: BeamMCP.Native.decode(body)
end
