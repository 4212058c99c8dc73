defmodule BeamMCP.Catalog.DefinitionTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.ToolSpec

  defp read(tools, keys \\ :atoms) do
    Definition.read(%{tools: tools, resources: [], prompts: []}, keys)
  end

  defp faults(tool) do
    {[], faults} = read([struct!(ToolSpec, tool)])
    for fault <- faults, do: {fault.tool, fault.place, fault.message}
  end

  describe "capabilities" do
    test "has three lists" do
      assert {[],
              [
                %{
                  tool: "capabilities",
                  place: "prompts",
                  message: "is required and must be a list"
                }
              ]} = Definition.read(%{tools: [], resources: []}, :atoms)

      assert {[], faults} = Definition.read(%{tools: %{}}, :atoms)
      assert Enum.map(faults, & &1.place) == ~w(tools resources prompts)
      assert {[], [%{place: "value"}]} = Definition.read([], :atoms)
    end

    test "holds specifications" do
      assert {[], [%{tool: "tools[1]", message: "must be a %BeamMCP.ToolSpec{}"}]} =
               read([%ToolSpec{name: "a"}, %{name: "b"}])
               |> then(fn {[_a], faults} -> {[], faults} end)
    end
  end

  describe "a sound tool" do
    test "keeps its name as declared for the host, and its order" do
      assert {[%{name: "b", handler: :b}, %{name: "a", handler: "a"}], []} =
               read([%ToolSpec{name: :b}, %ToolSpec{name: "a"}])
    end

    test "has every key of the contract" do
      {[native], []} = read([%ToolSpec{name: :a, _meta: %{"x" => 1}, icons: []}])

      assert native == %{
               name: "a",
               handler: :a,
               title: nil,
               description: nil,
               input_schema: nil,
               output_schema: nil,
               annotations: nil,
               meta: %{"x" => 1},
               icons: nil,
               argument_keys: %{}
             }
    end

    test "gets atoms for the declared properties, unless its keys stay strings" do
      schema = %{
        "type" => "object",
        "properties" => %{"place" => %{"properties" => %{"inner" => %{}}}}
      }

      assert {[%{argument_keys: %{"place" => :place}}], []} =
               read([%ToolSpec{name: :a, input_schema: schema}])

      assert {[%{argument_keys: keys}], []} =
               read([%ToolSpec{name: :a, input_schema: schema}], :strings)

      assert keys == %{}

      schema = %{type: :object, properties: %{place: %{}}}

      assert {[%{argument_keys: %{"place" => :place}}], []} =
               read([%ToolSpec{name: :a, input_schema: schema}])
    end
  end

  describe "a name" do
    test "of 1 to 128 letters, digits, _ . - is served" do
      for name <- ["a", "A.b_c-9", String.duplicate("x", 128), :atom] do
        assert {[_tool], []} = read([%ToolSpec{name: name}])
      end
    end

    test "of another form is refused (X23)" do
      assert [{"", "name", "must have 1 to 128 characters, has 0"}] = faults(name: "")
      long = String.duplicate("x", 129)
      assert [{^long, "name", "must have 1 to 128 characters, has 129"}] = faults(name: long)

      for name <- ["valid_name\n", "a b", "a,b", "ä", "a/b"] do
        assert [{^name, "name", "may hold only A-Z a-z 0-9 _ . and -"}] = faults(name: name)
      end

      for name <- [nil, 7, ~c"a"] do
        assert [{"tools[0]", "name", "must be an atom or a string"}] = faults(name: name)
      end
    end

    test "used twice is refused, as atom and as string" do
      assert {[%{name: "b"}], [%{tool: "a", place: "name", message: "is used by 2 tools"}]} =
               read([%ToolSpec{name: :a}, %ToolSpec{name: "b"}, %ToolSpec{name: "a"}])
    end
  end

  test "everything wrong is told at once, with its place" do
    tool = [
      name: "t",
      title: 1,
      description: <<255>>,
      command_class: "observe",
      mode: 1,
      input_schema: [],
      output_schema: ~D[2026-01-01],
      annotations: %{"readOnlyHint" => "yes", title: 3, other: 4},
      _meta: 1,
      icons: [
        %{"src" => "https://a/i.png"},
        %{src: "javascript:1", sizes: ["1"], theme: "blue", mimeType: 1},
        7
      ]
    ]

    assert faults(tool) |> Enum.map(&elem(&1, 1)) |> Enum.sort() ==
             Enum.sort(~w(title description input_schema output_schema _meta command_class mode
               annotations.readOnlyHint annotations.title icons[1].src icons[1].mimeType
               icons[1].sizes icons[1].theme icons[2]))
  end

  test "a property name that no atom can hold is refused" do
    properties = %{String.duplicate("ä", 256) => %{}, String.duplicate("ä", 255) => %{}}

    assert [{"t", "input_schema.properties", message}] =
             faults(name: "t", input_schema: %{"type" => "object", "properties" => properties})

    assert message =~ "256 characters"
  end

  test "faulty tools do not hide the sound ones" do
    assert {[%{name: "a"}, %{name: "c"}], [%{tool: "b!"}]} =
             read([%ToolSpec{name: :a}, %ToolSpec{name: "b!"}, %ToolSpec{name: :c}])
  end
end
