defmodule BeamMCP.AskingTest do
  # Handlers that ask their client, in every revision and against every kind of answer.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.{Content, Context, InputRequest, PromptSpec, ResourceSpec, Test, ToolSpec}

  @revisions ~w(2026-07-28 2025-11-25 2025-06-18)
  @able %{elicitation: %{form: %{}, url: %{}}, sampling: %{}, roots: %{}}

  defmodule Host do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @name %{
      type: "object",
      properties: %{name: %{type: "string", minLength: 1}},
      required: ["name"]
    }

    @tools ~w(greet visit sum_up roots all steps optional elsewhere wrong later bytes supports)a

    @impl true
    def capabilities do
      %{
        tools: Enum.map(@tools, &%ToolSpec{name: &1}),
        resources: [%ResourceSpec{uri: "notes:mine", name: "mine"}],
        prompts: [%PromptSpec{name: :introduce}]
      }
    end

    @impl true
    def read_resource(_uri, context), do: {:ok, told(Context.elicit(context, "Who?", @name))}

    @impl true
    def get_prompt(:introduce, _arguments, context),
      do: {:ok, told(Context.elicit(context, "Who?", @name))}

    def call(:greet, _arguments, context),
      do: {:ok, told(Context.elicit(context, "Who?", @name, key: :who))}

    def call(:visit, _arguments, context),
      do: {:ok, told(Context.elicit(context, "Log in.", {:url, "https://example.com/login"}))}

    def call(:sum_up, _arguments, context) do
      messages = [Content.prompt_message(:user, "Sum up")]
      {:ok, told(Context.sample(context, %{messages: messages, maxTokens: 100}))}
    end

    def call(:roots, _arguments, context), do: {:ok, told(Context.roots(context))}

    def call(:all, _arguments, context) do
      answers =
        Context.ask(context, %{
          :name => InputRequest.form("Who?", @name),
          "roots" => InputRequest.roots()
        })

      {:ok, told(answers)}
    end

    def call(:steps, _arguments, context) do
      first = Context.elicit(context, "First?", @name)
      second = Context.elicit(context, "Second?", @name)
      send(:persistent_term.get({__MODULE__, :test}, self()), :effect)
      {:ok, told({first, second})}
    end

    def call(:optional, _arguments, context),
      do: {:ok, told(Context.roots(context, optional: true))}

    def call(:supports, _arguments, context) do
      kinds = ~w(form url sampling sampling_tools roots)a
      {:ok, told(Enum.filter(kinds, &Context.supports?(context, &1)))}
    end

    def call(:elsewhere, _arguments, context) do
      task =
        Task.async(fn ->
          try do
            Context.roots(context)
          rescue
            error in ArgumentError -> Exception.message(error)
          end
        end)

      {:ok, Task.await(task)}
    end

    def call(:wrong, _arguments, context) do
      Context.elicit(context, "Who?", %{type: "object", properties: %{a: %{type: "object"}}})
    end

    def call(:later, _arguments, context), do: Context.retry_later(context)

    def call(:bytes, _arguments, context) do
      message = Content.prompt_message(:user, Content.image(<<1, 2, 3>>, "image/png"))
      {:ok, told(Context.sample(context, %{messages: [message], maxTokens: 1}))}
    end

    defp told(value), do: inspect(value)
  end

  defp client(revision, capabilities \\ @able) do
    Test.start!([catalog: Host, dispatch: &Host.call/3],
      revision: revision,
      capabilities: capabilities
    )
  end

  defp text({:ok, %{"content" => [%{"text" => text}]}}), do: text

  for revision <- @revisions do
    describe revision do
      @revision revision

      test "a form" do
        client = client(@revision)
        test = self()

        for {answer, told} <- [
              {{:accept, %{name: "Ada"}}, ~s({:accept, %{"name" => "Ada"}})},
              {:decline, ":decline"},
              {:cancel, ":cancel"}
            ] do
          Test.answer_with(client, fn "elicitation/create", params ->
            send(test, {:asked, params["message"], params["requestedSchema"]["required"]})
            answer
          end)

          assert client |> Test.call_tool(:greet) |> text() == told
          assert_received {:asked, "Who?", ["name"]}
        end
      end

      test "sampling, roots and bytes" do
        client = client(@revision)
        test = self()
        block = %{type: "text", text: "Short."}

        Test.answer_with(client, fn
          "sampling/createMessage", params ->
            send(test, {:asked, params["messages"]})
            {:ok, %{role: "assistant", model: "m", content: block, stopReason: "endTurn"}}

          "roots/list", _params ->
            {:ok, %{roots: [%{uri: "file:///home", name: "home"}]}}
        end)

        assert client |> Test.call_tool(:sum_up) |> text() =~ ~s("text" => "Short.")

        assert client |> Test.call_tool(:roots) |> text() ==
                 ~s({:ok, [%{"name" => "home", "uri" => "file:///home"}]})

        assert client |> Test.call_tool(:bytes) |> text() =~ "Short."
        assert_received {:asked, [%{"content" => %{"text" => "Sum up"}}]}
        assert_received {:asked, [%{"content" => %{"data" => "AQID"}}]}
      end

      test "several things at once, and prompts and resources" do
        client = client(@revision)

        Test.answer_with(client, fn
          "elicitation/create", _params -> {:accept, %{name: "Ada"}}
          "roots/list", _params -> {:ok, %{roots: []}}
        end)

        assert client |> Test.call_tool(:all) |> text() =~ ~s("roots" => {:ok, []})
        told = ~s({:accept, %{"name" => "Ada"}})

        assert {:ok, %{"messages" => [%{"content" => %{"text" => ^told}}]}} =
                 Test.get_prompt(client, :introduce)

        assert {:ok, %{"contents" => [%{"text" => ^told}]}} =
                 Test.read_resource(client, "notes:mine")
      end

      test "one question after the other" do
        client = client(@revision)

        Test.answer_with(client, fn _method, %{"message" => message} ->
          {:accept, %{name: message}}
        end)

        assert client |> Test.call_tool(:steps) |> text() ==
                 ~s({{:accept, %{"name" => "First?"}}, {:accept, %{"name" => "Second?"}}})
      end

      test "a client that declares nothing" do
        client = client(@revision, %{})
        assert client |> Test.call_tool(:optional) |> text() == "{:error, :not_supported}"
        assert client |> Test.call_tool(:supports) |> text() == "[]"

        case Test.call_tool(client, :roots) do
          {:error, error} ->
            assert @revision == "2026-07-28"

            assert %{code: -32_021, data: %{"requiredCapabilities" => %{"roots" => %{}}}} = error

          {:ok, result} ->
            assert @revision != "2026-07-28"
            assert %{"isError" => true, "content" => [%{"text" => text}]} = result
            assert text =~ "roots"
        end
      end

      test "what the host has to mend is its fault" do
        client = client(@revision)

        log =
          capture_log(fn ->
            assert {:ok, %{"isError" => true}} = Test.call_tool(client, :wrong)
          end)

        assert log =~ "ArgumentError"
      end

      test "only the process of the handler asks" do
        assert client(@revision) |> Test.call_tool(:elsewhere) |> text() =~ "only the process"
      end
    end
  end

  test "what a client supports" do
    supported = fn revision -> revision |> client() |> Test.call_tool(:supports) |> text() end
    assert supported.("2026-07-28") == "[:form, :url, :sampling, :roots]"
    assert supported.("2025-11-25") == "[:form, :url, :sampling, :roots]"
    assert supported.("2025-06-18") == "[:form, :sampling, :roots]"
  end

  test "a visit's end is told where the revision has that" do
    tell = fn _arguments, context ->
      answer = Context.elicit(context, "Log in.", {:url, "https://example.com/login", "visit-7"})
      :ok = Context.elicitation_complete(context, "visit-7")
      {:ok, inspect(answer)}
    end

    for {revision, told} <- [{"2025-11-25", 1}, {"2026-07-28", 0}] do
      tool = {:tool, %ToolSpec{name: :tell}, tell}
      client = Test.start!([registrations: [tool]], revision: revision, capabilities: @able)
      test = self()

      Test.answer_with(client, fn "elicitation/create", params ->
        send(test, {revision, params["elicitationId"]})
        {:accept, %{}}
      end)

      assert {:ok, _result} = Test.call_tool(client, :tell)
      assert_received {^revision, id}
      assert id == if(told == 1, do: "visit-7")

      completed =
        for {"notifications/elicitation/complete", params} <- Test.notifications(client),
            do: params

      assert completed == List.duplicate(%{"elicitationId" => "visit-7"}, told)
    end
  end

  test "a visit, where the revision has them" do
    for revision <- ~w(2026-07-28 2025-11-25) do
      client = client(revision)

      Test.answer_with(client, fn "elicitation/create", %{"mode" => "url", "url" => url} ->
        assert url == "https://example.com/login"
        :accept
      end)

      assert client |> Test.call_tool(:visit) |> text() == "{:accept, %{}}"
    end

    assert {:ok, %{"isError" => true}} = "2025-06-18" |> client() |> Test.call_tool(:visit)
  end

  test "a 2026 client that answers nothing, or nonsense, is asked again" do
    client = client("2026-07-28")
    assert {:ok, %{"resultType" => "input_required"} = first} = Test.call_tool(client, :greet)
    assert %{"inputRequests" => %{"who" => %{"method" => "elicitation/create"}}} = first
    state = first["requestState"]

    for responses <- [%{}, %{who: 7}, %{who: %{action: "accept", content: %{name: ""}}}] do
      params = %{name: :greet, arguments: %{}, inputResponses: responses, requestState: state}

      assert {:ok, %{"resultType" => "input_required"}} =
               Test.request(client, "tools/call", params)
    end

    params = %{name: :greet, requestState: state <> "x"}
    assert {:error, %{code: -32_602}} = Test.request(client, "tools/call", params)
  end

  test "a 2025 client that answers nonsense, or refuses, is told of" do
    client = client("2025-11-25")
    Test.answer_with(client, fn _method, _params -> {:accept, %{name: 7}} end)
    assert client |> Test.call_tool(:greet) |> text() == "{:error, :malformed}"
    Test.answer_with(client, fn _method, _params -> {:error, {-1, "Rejected"}} end)
    assert client |> Test.call_tool(:sum_up) |> text() == ~s({:error, {:client, -1, "Rejected"}})
  end

  test "a 2025 client that says nothing is waited for until the deadline" do
    client =
      Test.start!([catalog: Host, dispatch: &Host.call/3, call_timeout_ms: 100],
        revision: "2025-11-25",
        capabilities: @able
      )

    Test.answer_with(client, fn _method, _params -> Process.sleep(:infinity) end)

    capture_log(fn ->
      assert {:ok, %{"isError" => true}} = Test.call_tool(client, :greet)
    end)

    assert eventually(fn -> match?(%{calls: 0, tokens: 0}, BeamMCP.info!(client.instance)) end)
  end

  test "a cancelled call stops waiting" do
    client = client("2025-11-25")
    test = self()

    Test.answer_with(client, fn _method, _params ->
      send(test, :asked)
      Process.sleep(:infinity)
    end)

    request = Test.send_request(client, "tools/call", %{name: :greet})
    assert_receive :asked
    :ok = Test.cancel(request)
    assert Test.await(request) == :cancelled
    assert eventually(fn -> match?(%{calls: 0, tokens: 0}, BeamMCP.info!(client.instance)) end)
  end

  test "later" do
    assert {:ok, %{"resultType" => "input_required"} = result} =
             Test.call_tool(client("2026-07-28"), :later)

    refute Map.has_key?(result, "inputRequests")
    assert {:ok, %{"isError" => true}} = Test.call_tool(client("2025-06-18"), :later)
  end

  test "answers make no atoms" do
    for revision <- @revisions do
      client = client(revision)
      unknown = "k#{System.unique_integer([:positive])}"

      Test.answer_with(client, fn _method, _params ->
        {:accept, %{"name" => "Ada", unknown => unknown}}
      end)

      assert client |> Test.call_tool(:greet) |> text() =~ unknown
      assert_raise ArgumentError, fn -> String.to_existing_atom(unknown) end
    end
  end

  defp eventually(fun, left \\ 200)
  defp eventually(_fun, 0), do: false

  defp eventually(fun, left) do
    fun.() || (Process.sleep(10) && eventually(fun, left - 1))
  end
end
