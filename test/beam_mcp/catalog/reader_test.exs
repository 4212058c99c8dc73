defmodule BeamMCP.Catalog.ReaderTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.{Definition, Reader}
  alias BeamMCP.{PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}

  @host %{
    serves: [:tool, :resource, :template, :prompt],
    public_cache?: false,
    keys: :atoms
  }

  defp capabilities(map) do
    Reader.capabilities(Map.merge(%{tools: [], resources: [], prompts: []}, map), @host)
  end

  describe "capabilities" do
    test "has three lists, and a fourth that may be absent" do
      absent = "is required and must be a list"

      assert Reader.capabilities(%{tools: [], resources: []}, @host) ==
               {[],
                [
                  %{
                    kind: :catalog,
                    definition: "capabilities",
                    place: "prompts",
                    message: absent
                  }
                ]}

      assert {[], faults} = Reader.capabilities(%{tools: %{}, templates: nil}, @host)
      assert Enum.map(faults, & &1.place) == ~w(tools resources templates prompts)
      assert {[], [%{place: "value"}]} = Reader.capabilities([], @host)
    end

    test "has no other keys, under which definitions would be lost" do
      none = %{tools: [], resources: [], prompts: []}
      misspelt = %{"tools" => [], resource_templates: []}
      assert {[], faults} = Reader.capabilities(Map.merge(none, misspelt), @host)

      assert for(fault <- faults, do: {fault.place, fault.message}) == [
               {"resource_templates",
                "is no key of it; those are tools, resources, templates, prompts"},
               {~s("tools"), "is no key of it; those are tools, resources, templates, prompts"}
             ]
    end

    test "holds specifications of the kind that its key says" do
      wrong = %{
        tools: [%ToolSpec{name: "a"}, %{name: "b"}],
        resources: [%ResourceTemplateSpec{uri_template: "a:{b}", name: "a"}],
        templates: [%ResourceSpec{uri: "a:b", name: "a"}],
        prompts: [%ToolSpec{name: "c"}]
      }

      assert {[%{kind: :tool, key: "a"}], faults} = capabilities(wrong)

      assert for(fault <- faults, do: {fault.definition, fault.message}) == [
               {"tools[1]", "must be a %BeamMCP.ToolSpec{}"},
               {"resources[0]",
                "must be a %BeamMCP.ResourceSpec{}; templates are listed under the key templates"},
               {"templates[0]", "must be a %BeamMCP.ResourceTemplateSpec{}"},
               {"prompts[0]", "must be a %BeamMCP.PromptSpec{}"}
             ]
    end

    test "keeps the order, and says whose the definitions are" do
      {definitions, []} =
        capabilities(%{
          tools: [%ToolSpec{name: :b}, %ToolSpec{name: "a"}],
          resources: [%ResourceSpec{uri: "a:b", name: "a"}]
        })

      assert Enum.map(definitions, &Definition.id/1) == [
               {:tool, "b"},
               {:tool, "a"},
               {:resource, "a:b"}
             ]

      assert Enum.all?(definitions, &(&1.owner == :catalog))
    end

    test "does not let a faulty definition hide the sound ones" do
      tools = [%ToolSpec{name: :a}, %ToolSpec{name: "b!"}, %ToolSpec{name: :c}]

      assert {[%{key: "a"}, %{key: "c"}], [%{kind: :tool, definition: "b!"}]} =
               capabilities(%{tools: tools})
    end

    test "refuses both of two with one key, as atom and as string" do
      assert {[%{key: "b"}], [fault]} =
               capabilities(%{
                 tools: [%ToolSpec{name: :a}, %ToolSpec{name: "b"}, %ToolSpec{name: "a"}]
               })

      assert fault == %{
               kind: :tool,
               definition: "a",
               place: "name",
               message: "is used by 2 tools"
             }

      uri = %ResourceSpec{uri: "a:b", name: "a"}

      assert {[], [%{place: "uri", message: "is used by 3 resources"}]} =
               capabilities(%{resources: [uri, uri, uri]})
    end

    test "lets kinds share a name" do
      assert {[_tool, _prompt], []} =
               capabilities(%{tools: [%ToolSpec{name: :a}], prompts: [%PromptSpec{name: :a}]})
    end
  end

  describe "registrations" do
    test "name a kind, a specification and a handler" do
      handler = fn _arguments -> {:ok, ""} end
      own = fn _arguments, _context -> {:ok, ""} end

      assert {definitions, []} =
               Reader.registrations(
                 [
                   {:tool, %ToolSpec{name: "a", handler: own}, handler},
                   {:tool, %ToolSpec{name: "b", handler: own}},
                   {:resource, %ResourceSpec{uri: "a:b", name: "a"}, handler},
                   {:completion, {:prompt, "p"}, handler}
                 ],
                 @host
               )

      assert for(definition <- definitions, do: {definition.key, definition.handler}) == [
               {"a", {:fun, handler, 1}},
               {"b", {:fun, own, 2}},
               {"a:b", {:fun, handler, 1}},
               {{{:prompt, "p"}, nil}, {:fun, handler, 1}}
             ]

      assert Enum.all?(definitions, &(&1.owner == :registry))
    end

    test "are refused with their place" do
      wrong = [
        :tool,
        {:tool, %{name: "a"}, fn _ -> 1 end},
        {:toll, %ToolSpec{name: "a"}, fn _ -> 1 end},
        {:tool, %ToolSpec{name: "a"}, fn -> 1 end},
        {:completion, "p", []},
        {:completion, {:prompt, "p"}}
      ]

      assert {[], faults} = Reader.registrations(wrong, @host)

      assert for(fault <- faults, do: {fault.kind, fault.definition, fault.place}) == [
               {:catalog, "registrations[0]", "value"},
               {:tool, "registrations[1]", "value"},
               {:catalog, "registrations[2]", "value"},
               {:tool, "a", "handler"},
               {:completion, "registrations[4]", "value"},
               {:completion, "registrations[5]", "value"}
             ]

      assert {[], [%{definition: "registrations", message: "must be a list"}]} =
               Reader.registrations(%{}, @host)
    end
  end
end
