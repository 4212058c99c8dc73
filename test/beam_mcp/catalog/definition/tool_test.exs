defmodule BeamMCP.Catalog.Definition.ToolTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.ToolSpec

  @host %{serves: [:tool], public_cache?: false, keys: :atoms}

  defp read(tool, host \\ @host) do
    Definition.read(:tool, struct!(ToolSpec, tool), "tools[0]", host)
  end

  defp faults(tool, host \\ @host) do
    {:error, faults} = read(tool, host)
    for %{kind: :tool} = fault <- faults, do: {fault.definition, fault.place, fault.message}
  end

  describe "a sound tool" do
    test "keeps its name as declared for the host" do
      assert {:ok, [%{name: :b, key: "b", native: %{name: "b"}}]} = read(name: :b)
      assert {:ok, [%{name: "a"}]} = read(name: "a")
    end

    test "has every key of the contract" do
      {:ok, [definition]} = read(name: :a, _meta: %{"x" => 1}, icons: [], rate: {5, 1_000})

      assert definition.native == %{
               name: "a",
               title: nil,
               description: nil,
               input_schema: nil,
               output_schema: nil,
               annotations: nil,
               meta: %{"x" => 1},
               icons: nil,
               argument_keys: %{},
               timeout_ms: nil,
               max_concurrency: nil,
               rate: {5, 1_000},
               task_support: :forbidden,
               park: false,
               required_scopes: [],
               alternative_scope_sets: [],
               denial: nil
             }
    end

    test "gets atoms for the declared properties, unless its keys stay strings" do
      nested = %{"place" => %{"properties" => %{"inner" => %{}}}}

      for schema <- [
            %{"type" => "object", "properties" => nested},
            %{type: :object, properties: %{place: %{}}}
          ] do
        tool = [name: :a, input_schema: schema]
        assert {:ok, [%{native: %{argument_keys: %{"place" => :place}}}]} = read(tool)

        for {:ok, [%{native: %{argument_keys: keys}}]} <- [
              read(tool, %{@host | keys: :strings}),
              read([argument_keys: :strings] ++ tool)
            ],
            do: assert(keys == %{})
      end
    end
  end

  describe "a name" do
    test "of 1 to 128 letters, digits, _ . - is served" do
      for name <- ["a", "A.b_c-9", String.duplicate("x", 128), :atom] do
        assert {:ok, [_tool]} = read(name: name)
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
  end

  test "a tool that goes on as a task does not park too" do
    for support <- [:optional, :required] do
      assert [{"t", "resume", "must be :replay where task_support is " <> _}] =
               faults(name: "t", resume: :park, task_support: support)
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
      handler: {String, :no_such_function},
      argument_keys: :atom,
      timeout_ms: 0,
      max_concurrency: 1.5,
      rate: {1, 0},
      icons: [
        %{"src" => "https://a/i.png"},
        %{src: "javascript:1", sizes: ["1"], theme: "blue", mimeType: 1},
        7
      ]
    ]

    assert faults(tool) |> Enum.map(&elem(&1, 1)) |> Enum.sort() ==
             Enum.sort(~w(title description input_schema output_schema _meta command_class mode
               annotations.readOnlyHint annotations.title icons[1].src icons[1].mimeType
               icons[1].sizes icons[1].theme icons[2] handler argument_keys timeout_ms
               max_concurrency rate))
  end

  test "false is no text and no map" do
    assert [{"t", "title", _}, {"t", "input_schema", _}] =
             faults(name: "t", title: false, input_schema: false)
  end

  test "a property name that no atom can hold is refused" do
    properties = %{String.duplicate("ä", 256) => %{}, String.duplicate("ä", 255) => %{}}

    assert [{"t", "input_schema.properties", message}] =
             faults(name: "t", input_schema: %{"type" => "object", "properties" => properties})

    assert message =~ "256 characters"
  end

  describe "a handler" do
    test "takes the arguments, or those and the context" do
      one = fn _arguments -> {:ok, ""} end
      two = fn _arguments, _context -> {:ok, ""} end

      for {declared, found} <- [
            {one, {:fun, one, 1}},
            {two, {:fun, two, 2}},
            {{Map, :get}, {:mfa, Map, :get, [], 2}},
            {{Map, :put, [:value]}, {:mfa, Map, :put, [:value], 2}},
            {{Enum, :frequencies}, {:mfa, Enum, :frequencies, [], 1}}
          ],
          do: assert({:ok, [%{handler: ^found}]} = read(name: "t", handler: declared))
    end

    test "is needed where the instance has no dispatch function" do
      host = %{@host | serves: []}
      assert [{"t", "handler", message}] = faults([name: "t"], host)
      assert message == "is required: the instance has no dispatch function"
      assert {:ok, [_tool]} = read([name: "t", handler: fn _ -> {:ok, ""} end], host)
    end
  end
end
