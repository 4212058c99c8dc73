defmodule BeamMCP.Catalog.Definition.PromptTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.{PromptArgument, PromptSpec}

  @host %{serves: [:prompt], public_cache?: false, keys: :atoms}

  defp read(prompt, host \\ @host) do
    spec = struct!(PromptSpec, Keyword.merge([name: :review], prompt))
    Definition.read(:prompt, spec, "prompts[0]", host)
  end

  defp places(prompt) do
    {:error, faults} = read(prompt)
    for %{kind: :prompt, place: place} <- faults, do: place
  end

  test "has every key of the contract" do
    arguments = [
      %PromptArgument{name: :code, required: true},
      %PromptArgument{name: "language", title: "Language"}
    ]

    {:ok, [definition]} = read(arguments: arguments)
    assert %Definition{kind: :prompt, key: "review", name: :review, parts: []} = definition

    assert definition.native == %{
             name: "review",
             title: nil,
             description: nil,
             arguments: [
               %{name: "code", title: nil, description: nil, required: true},
               %{name: "language", title: "Language", description: nil, required: false}
             ],
             icons: nil,
             meta: nil,
             argument_keys: %{"code" => :code, "language" => :language},
             park: false,
             required_scopes: [],
             alternative_scope_sets: [],
             denial: nil
           }
  end

  test "keeps strings where it says so, and for callers of their own" do
    prompt = [arguments: [%PromptArgument{name: :code}]]

    for {:ok, [%{native: native}]} <- [
          read([argument_keys: :strings] ++ prompt),
          read(prompt, %{@host | keys: :strings})
        ],
        do: assert(native.argument_keys == %{})
  end

  test "brings along what completes its arguments" do
    arguments = [
      %PromptArgument{name: :code},
      %PromptArgument{name: :language, completions: ["elixir"]}
    ]

    assert {:ok, [prompt, part]} = read(arguments: arguments)
    assert prompt.parts == [Definition.id(part)]
    assert %Definition{kind: :completion, owner: {:prompt, "review"}} = part
    assert part.native == %{ref: {:prompt, "review"}, argument: "language"}
  end

  test "everything wrong is told at once, with its place" do
    wrong = [
      title: 1,
      description: 2,
      _meta: 3,
      icons: 4,
      argument_keys: 5,
      handler: 6,
      arguments: [
        %PromptArgument{name: 1, title: 2, description: 3, required: 4, completions: 5},
        :code
      ]
    ]

    assert Enum.sort(places(wrong)) ==
             Enum.sort(~w(title description _meta icons argument_keys handler arguments[0].name
               arguments[0].title arguments[0].description arguments[0].required
               arguments[0].completions arguments[1]))

    assert places(arguments: %{}) == ["arguments"]
    assert places(name: "a\nb") == ["name"]
    assert places(name: nil) == ["name"]
  end

  test "an argument given twice is refused, as atom and as string" do
    arguments = [%PromptArgument{name: :code}, %PromptArgument{name: "code"}]

    assert {:error, [%{place: "arguments", message: "code is given twice"}]} =
             read(arguments: arguments)
  end

  test "without a handler it needs get_prompt/3" do
    assert {:error, [%{place: "handler", message: message}]} = read([], %{@host | serves: []})
    assert message == "is required: the catalog has no get_prompt/3"
  end
end
