defmodule BeamMCP.Catalog.Definition.TemplateTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.ResourceTemplateSpec

  @host %{serves: [:template], public_cache?: false, keys: :atoms}
  @template "logs://{day}/{+path}{?q,limit}"

  defp read(template, host \\ @host) do
    spec = Keyword.merge([uri_template: @template, name: "log"], template)
    Definition.read(:template, struct!(ResourceTemplateSpec, spec), "templates[0]", host)
  end

  test "has every key of the contract" do
    {:ok, [definition]} = read(title: "A log")
    assert %Definition{kind: :template, key: @template, parts: []} = definition

    assert definition.native == %{
             uri_template: @template,
             name: "log",
             title: "A log",
             description: nil,
             mime_type: nil,
             annotations: nil,
             icons: nil,
             meta: nil,
             cache_ttl_ms: nil,
             cache_scope: nil,
             park: false,
             required_scopes: [],
             alternative_scope_sets: [],
             denial: nil
           }
  end

  test "brings along what completes its variables" do
    handler = fn _asked -> {:ok, []} end
    completions = %{:day => ["monday"], "q" => handler, "limit" => {Map, :get}, :path => []}
    {:ok, [template | parts]} = read(completions: completions)
    assert Enum.sort(template.parts) == parts |> Enum.map(&Definition.id/1) |> Enum.sort()

    for part <- parts do
      assert %Definition{kind: :completion, owner: {:template, @template}} = part
      assert {{:template, @template}, variable} = part.key
      assert part.native == %{ref: {:template, @template}, argument: variable}
    end

    assert %{handler: {:fun, ^handler, 1}} = Enum.find(parts, &(elem(&1.key, 1) == "q"))
  end

  test "a completion of what is no variable, or of another form, is refused" do
    for {completions, place} <- [
          {%{"week" => []}, "completions"},
          {%{7 => []}, "completions"},
          {[], "completions"},
          {%{"day" => [:monday]}, "completions.day"},
          {%{"day" => fn -> [] end}, "completions.day"}
        ],
        do: assert({:error, [%{place: ^place}]} = read(completions: completions))
  end

  test "without a handler it needs read_resource/2" do
    assert {:error, [%{place: "handler"}]} = read([], %{@host | serves: [:resource]})
  end

  test "is told by its template, or its place when that is no text" do
    assert {:error, [%{definition: @template}]} = read(name: 7)

    assert {:error, [%{definition: "templates[0]", place: "uri_template"}]} =
             read(uri_template: 7)
  end
end
