defmodule BeamMCP.PolicyTest do
  # Scopes of definitions without a socket: what is refused where it is written, and what a client
  # inside the VM may use.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.{Definition, PromptSpec, ResourceSpec, ResourceTemplateSpec, Test, ToolSpec}

  @moduletag :capture_log

  @tools ["mcp:tools:read", "mcp:tools:call"]

  describe "a definition" do
    test "with scopes that are none is refused by name and place, whatever its kind" do
      specs = [
        {:tool, %ToolSpec{name: "one"}, "one"},
        {:resource, %ResourceSpec{uri: "test://one", name: "one"}, "test://one"},
        {:template, %ResourceTemplateSpec{uri_template: "test://{one}", name: "one"},
         "test://{one}"},
        {:prompt, %PromptSpec{name: "one"}, "one"}
      ]

      for {kind, spec, name} <- specs,
          {access, place} <- [
            {[required_scopes: ["a b"]], "required_scopes"},
            {[required_scopes: ["a", "a"]], "required_scopes"},
            {[required_scopes: [String.duplicate("a", 257)]], "required_scopes"},
            {[required_scopes: for(n <- 1..129, do: "s#{n}")], "required_scopes"},
            {[required_scopes: for(n <- 100..133, do: String.duplicate("s", 245) <> "#{n}")],
             "required_scopes"},
            {[required_scopes: :a], "required_scopes"},
            {[alternative_scope_sets: [["a"]]], "alternative_scope_sets"},
            {[required_scopes: ["a"], alternative_scope_sets: [[]]], "alternative_scope_sets"},
            {[required_scopes: ["a", "b"], alternative_scope_sets: [["b", "a"]]],
             "alternative_scope_sets"},
            {[required_scopes: ["p"], alternative_scope_sets: for(n <- 1..8, do: ["a#{n}"])],
             "alternative_scope_sets"},
            {[alternative_scope_sets: ["a"]], "alternative_scope_sets"},
            {[denial: :silent], "denial"}
          ] do
        assert [%{kind: ^kind, definition: ^name, place: ^place}] =
                 faults({kind, struct!(spec, access), fn _asked -> {:ok, ""} end})
      end
    end

    test "with the most scopes that may be is taken" do
      spec = %ToolSpec{
        name: "one",
        required_scopes: for(n <- 1..121, do: "s#{n}"),
        alternative_scope_sets: for(n <- 1..7, do: ["a#{n}"]),
        denial: :challenge
      }

      assert faults({:tool, spec, fn _arguments -> {:ok, ""} end}) == []
    end
  end

  describe "options" do
    test "that contradict each other are refused before anything starts" do
      for {options, message} <- [
            {[scope_policy: %{"prompts/get" => :selected_definition}],
             ~s(scope_policy: "prompts/get")},
            {[scope_policy: %{"tools/call" => :visible_definitions}],
             ~s(scope_policy: "tools/call")},
            {[
               scope_policy: %{"tools/call" => :selected_definition},
               scope_map: %{"tools/call" => []}
             ], ~s(scope_policy: "tools/call" is in scope_map and in scope_policy)},
            {[scope_policy: %{"tools/call" => :all}], "option scope_policy: expected a map"},
            {[scope_map: %{"tools/destroy" => ["a"]}], ~s(scope_map: "tools/destroy")},
            {[subscription_scopes: ["a b"]], ~s(subscription_scopes: "a b")},
            {[hide_unauthorized: nil], "option hide_unauthorized"},
            {[authorize_definition: fn _context -> true end], "option authorize_definition"},
            {[step_up: {__MODULE__, :missing}], "option step_up"}
          ] do
        error =
          assert_raise ArgumentError, fn -> BeamMCP.start_link([name: make_ref()] ++ options) end

        assert Exception.message(error) =~ message
      end
    end
  end

  describe "a client inside the VM" do
    test "with scopes uses what they open" do
      assert refusal(@tools, "secret") == %{
               code: -31_403,
               message: "Insufficient scope",
               data: %{"requiredScopes" => ["mcp:tools:call", "secret"]}
             }

      assert {:ok, _result} = call(@tools ++ ["secret"], "secret")

      assert {:ok, _result} =
               call(@tools ++ ["admin"], "secret", implies: %{"admin" => ["secret"]})

      assert {:ok, _result} = call(nil, "secret")
    end

    test "sees lists without what is hidden from it" do
      for {scopes, options, names} <- [
            {@tools, [], ["open", "secret"]},
            {@tools, [hide_unauthorized: true], ["open"]},
            {[], [scope_policy: %{"tools/list" => :visible_definitions}], ["open"]},
            {@tools ++ ["secret"], [hide_unauthorized: true], ["open", "secret"]},
            {nil, [hide_unauthorized: true], ["open", "secret"]}
          ] do
        client = client(scopes, options)
        assert {:ok, tools} = Test.list_tools(client)
        assert for(tool <- tools, do: tool["name"]) == names
      end
    end

    test "is told nothing under a policy, unless the definition says so" do
      policy = [
        scope_policy: %{
          "tools/call" => :selected_definition,
          "resources/read" => :selected_definition
        }
      ]

      open = %ResourceSpec{uri: "test://open", name: "open"}
      secret = %ResourceSpec{uri: "test://a", name: "a", required_scopes: ["secret"]}
      done = fn _asked -> {:ok, ""} end

      for {denial, code} <- [{nil, -32_602}, {:neutral, -32_602}, {:challenge, -31_403}] do
        registrations = [
          {:tool, %ToolSpec{name: "a", required_scopes: ["secret"], denial: denial}, done},
          {:resource, open, done},
          {:resource, %{secret | denial: denial}, done}
        ]

        client = Test.start!([registrations: registrations] ++ policy, scopes: [])
        assert {:error, %{code: ^code}} = Test.call_tool(client, "a")
        assert {:error, %{code: ^code}} = Test.read_resource(client, "test://a")
        assert {:ok, _contents} = Test.read_resource(client, "test://open")
      end
    end

    test "hears of a changed resource only with its scopes, in every revision" do
      for revision <- ["2026-07-28", "2025-11-25"],
          {more, heard?} <- [{[], false}, {["secret"], true}] do
        scopes = ["mcp:resources:read"] ++ more

        hidden = %ResourceSpec{
          uri: "test://a",
          name: "a",
          required_scopes: ["secret"],
          denial: :neutral
        }

        open = %ResourceSpec{uri: "test://b", name: "b"}
        done = fn _asked -> {:ok, ""} end
        registrations = [{:resource, hidden, done}, {:resource, open, done}]
        options = [scopes: scopes, revision: revision]
        client = Test.start!([registrations: registrations], options)
        subscribe(client, revision, ["test://a", "test://b"])

        for uri <- ["test://a", "test://b"],
            do: BeamMCP.notify_resource_updated(client.instance, uri)

        assert_receive {:mcp, ^client, "notifications/resources/updated", %{"uri" => "test://b"}}
        received? = received?(client, "test://a")
        assert received? == heard?
      end
    end
  end

  describe "hooks" do
    test "are asked about names that nothing has, too" do
      test = self()

      hook = fn context, %Definition{} = definition ->
        send(test, {context.method, definition})
        true
      end

      client = client(@tools, authorize_definition: hook)
      assert {:error, %{code: -32_602}} = Test.call_tool(client, "absent")
      assert_received {"tools/call", %Definition{kind: :tool, name: "absent", uri: nil}}
    end

    test "that raise deny, and the log says why" do
      hook = fn _context, _definition -> raise "on purpose" end
      client = client(@tools, authorize_definition: hook)

      log =
        capture_log(fn -> assert {:error, %{code: -32_602}} = Test.call_tool(client, "open") end)

      assert log =~ "authorize_definition"
      assert log =~ "on purpose"
    end

    test "apply to a catalog of the caller's own" do
      hook = fn _context, definition -> definition.name == "open" end
      client = client(nil, authorize_definition: hook)
      assert {:ok, [%{"name" => "open"}]} = Test.list_tools(client)
      assert {:error, _hidden} = Test.call_tool(client, "secret")
    end
  end

  defp received?(client, uri) do
    receive do
      {:mcp, ^client, "notifications/resources/updated", %{"uri" => ^uri}} -> true
    after
      50 -> false
    end
  end

  defp subscribe(client, "2026-07-28", uris), do: {:ok, _listening} = Test.listen(client, uris)

  defp subscribe(client, _legacy, uris) do
    for uri <- uris, do: {:ok, _result} = Test.request(client, "resources/subscribe", %{uri: uri})
  end

  defp refusal(scopes, tool) do
    {:error, error} = call(scopes, tool)
    error
  end

  defp call(scopes, tool, options \\ []), do: scopes |> client(options) |> Test.call_tool(tool)

  defp client(scopes, options) do
    done = fn _arguments -> {:ok, "done"} end

    registrations = [
      {:tool, %ToolSpec{name: "open"}, done},
      {:tool, %ToolSpec{name: "secret", required_scopes: ["secret"]}, done}
    ]

    Test.start!([registrations: registrations] ++ options, scopes: scopes)
  end

  defp faults(registration) do
    Process.flag(:trap_exit, true)

    case BeamMCP.start_link(name: make_ref(), registrations: [registration]) do
      {:ok, supervisor} ->
        Supervisor.stop(supervisor)
        []

      {:error, error} ->
        error.details
    end
  end
end
