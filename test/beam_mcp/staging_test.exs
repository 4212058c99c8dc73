defmodule BeamMCP.StagingTest do
  # What is used once: pages that users are sent to, and rounds when the host says so.
  use ExUnit.Case, async: true

  alias BeamMCP.{Context, Test, ToolSpec}

  @able %{elicitation: %{form: %{}, url: %{}}, roots: %{}}

  for resume <- [:replay, :park] do
    describe "#{resume}:" do
      @describetag resume: resume

      test "a page takes what a handler kept, once and for its caller", %{resume: resume} do
        client = client(resume, [], principal: "ada")
        round = call(client)
        assert %{"input-1" => %{"params" => %{"url" => url}}} = round["inputRequests"]
        "https://example.com/" <> id = url

        again = call(client, round, %{})
        assert again["inputRequests"] == round["inputRequests"]
        consent = %{"input-1" => %{action: "accept"}}
        later = call(client, again, consent)
        assert %{"resultType" => "input_required"} = later
        refute Map.has_key?(later, "inputRequests")

        instance = client.instance
        assert BeamMCP.take_staged(instance, id, "bob") == {:error, :unknown}
        assert BeamMCP.take_staged(instance, id, "ada") == {:ok, %{account: 7}}
        assert BeamMCP.take_staged(instance, id, "ada") == {:error, :unknown}
        assert %{"content" => [%{"text" => "Connected."}]} = call(client, later, consent)
      end

      test "each conversation keeps its own", %{resume: resume} do
        client = client(resume)
        urls = for _ <- 1..3, do: call(client)["inputRequests"]["input-1"]["params"]["url"]
        assert Enum.uniq(urls) == urls
      end

      test "a round is used once where the host says so", %{resume: resume} do
        client = client(resume, single_use_state: true)
        first = call(client)
        second = call(client, first, %{})
        assert %{"resultType" => "input_required"} = second

        for round <- [first, first] do
          assert {:error, %{code: -32_602, message: message}} = request(client, round, %{})
          assert message =~ "requestState"
        end

        assert %{"resultType" => "input_required"} = call(client, second, %{})

        assert eventually(fn -> match?(%{calls: 0, tokens: 0}, BeamMCP.info!(client.instance)) end)
      end

      test "a round may be sent again where the host does not say so", %{resume: resume} do
        client = client(resume)
        first = call(client)
        for _ <- 1..2, do: assert(%{"resultType" => "input_required"} = call(client, first, %{}))
      end
    end
  end

  test "without room a handler is told, and a round is not served unmarked" do
    client = client(:replay, staged_store: {BeamMCP.StagedStore.ETS, max_staged: 1})
    call(client)
    assert %{"content" => [%{"text" => "full"}]} = call(client)

    options = [single_use_state: true, staged_store: {BeamMCP.StagedStore.ETS, max_staged: 1}]
    client = client(:replay, options)
    round = call(client)

    log =
      ExUnit.CaptureLog.capture_log(fn ->
        assert %{"isError" => true} = call(client, round, %{})
      end)

    assert log =~ "the staged store is full"
  end

  test "what waited too long is gone" do
    client = client(:replay, [], [], ttl_ms: 1)
    "https://example.com/" <> id = call(client)["inputRequests"]["input-1"]["params"]["url"]
    Process.sleep(5)
    assert BeamMCP.take_staged(client.instance, id, :anonymous) == {:error, :unknown}
  end

  defp client(resume, options \\ [], client \\ [], staged \\ []) do
    handler = fn _arguments, context ->
      case Context.stage(context, :connect, %{account: 7}, staged) do
        {:open, id} ->
          Context.elicit(context, "Connect", {:url, "https://example.com/" <> id})
          Context.retry_later(context)

        :taken ->
          {:ok, "Connected."}

        {:error, reason} ->
          {:ok, Atom.to_string(reason)}
      end
    end

    tool = {:tool, %ToolSpec{name: :connect, resume: resume}, handler}
    Test.start!([registrations: [tool]] ++ options, Keyword.merge([capabilities: @able], client))
  end

  defp call(client) do
    {:ok, round} = Test.request(client, "tools/call", %{name: :connect})
    round
  end

  defp call(client, round, responses) do
    {:ok, result} = request(client, round, responses)
    result
  end

  defp request(client, round, responses) do
    params = %{
      name: :connect,
      inputResponses: responses,
      requestState: round["requestState"]
    }

    Test.request(client, "tools/call", params)
  end

  defp eventually(fun, left \\ 200) do
    fun.() || (left > 0 && Process.sleep(10) && eventually(fun, left - 1))
  end
end
