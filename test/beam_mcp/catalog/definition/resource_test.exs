defmodule BeamMCP.Catalog.Definition.ResourceTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.ResourceSpec

  @host %{serves: [:resource], public_cache?: false, keys: :atoms}

  defp read(resource, host \\ @host) do
    spec = struct!(ResourceSpec, Keyword.merge([uri: "notes:1", name: "note"], resource))
    Definition.read(:resource, spec, "resources[0]", host)
  end

  defp places(resource, host \\ @host) do
    {:error, faults} = read(resource, host)
    for %{kind: :resource, definition: "notes:1", place: place} <- faults, do: place
  end

  test "has every key of the contract" do
    {:ok, [definition]} =
      read(size: 3, annotations: [priority: 1, last_modified: "2026-07-28"], mime_type: "a/b")

    assert %Definition{kind: :resource, key: "notes:1", handler: nil, parts: []} = definition

    assert definition.native == %{
             uri: "notes:1",
             name: "note",
             title: nil,
             description: nil,
             mime_type: "a/b",
             size: 3,
             annotations: %{"priority" => 1, "lastModified" => "2026-07-28"},
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

  test "everything wrong is told at once, with its place" do
    wrong = [
      name: "",
      title: 1,
      description: <<255>>,
      mime_type: :text,
      size: -1,
      annotations: [priority: 2, audience: :user, last_modified: "yesterday"],
      _meta: [],
      icons: [7],
      cache_ttl_ms: -1,
      cache_scope: :shared,
      handler: fn -> 1 end
    ]

    assert Enum.sort(places(wrong)) ==
             Enum.sort(~w(name title description mime_type size annotations.priority
               annotations.audience annotations.lastModified _meta icons[0] cache_ttl_ms
               cache_scope handler))
  end

  test "a URI is absolute (RFC 3986)" do
    for uri <- ["a:b", "file:///a/b%20c?d=e#f", "test://static-text", "urn:isbn:1"],
        do: assert({:ok, [%{key: ^uri}]} = read(uri: uri))

    for uri <- ["a", "/a", "://a", "a:", "a:b c", "a:%2", "a:\n", "ä:b", "a:<b>", nil, :uri] do
      assert {:error, [%{place: "uri"}]} = read(uri: uri)
    end

    assert {:error, [%{message: "must have at most 4096 bytes"}]} =
             read(uri: "a:" <> String.duplicate("b", 4_095))
  end

  test "public contents need the host's permission" do
    assert places(cache_scope: :public) == ["cache_scope"]
    assert {:ok, [_resource]} = read([cache_scope: :public], %{@host | public_cache?: true})
    assert {:ok, [%{native: %{cache_scope: :private}}]} = read(cache_scope: :private)
  end

  test "without a handler it needs read_resource/2" do
    assert {:error, [%{place: "handler", message: message}]} = read([], %{@host | serves: []})
    assert message == "is required: the catalog has no read_resource/2"
  end
end
