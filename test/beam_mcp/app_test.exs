defmodule BeamMCP.AppTest do
  # Tools that are shown as pages (MCP Apps), through the public API.
  use ExUnit.Case, async: true

  doctest BeamMCP.App

  alias BeamMCP.{App, ResourceSpec, Result, Test, ToolSpec}

  @uri "ui://clock/main.html"
  @html "<!doctype html><title>Clock</title>"

  defp tool(name \\ "clock"), do: %ToolSpec{name: name, _meta: App.tool_meta(@uri)}
  defp tells(text), do: fn _arguments -> {:ok, text} end

  defp server(page) do
    Test.start!(registrations: [page, {:tool, tool(), tells("noon")}])
  end

  defp read(client) do
    {:ok, %{"contents" => [page]}} = Test.read_resource(client, @uri)
    page
  end

  for revision <- ~w(2026-07-28 2025-11-25 2025-06-18) do
    test "a #{revision} client reads the page of a tool" do
      page = App.page(@uri, @html, name: "clock", permissions: [:camera], border: false)
      client = Test.connect!(server(page).instance, revision: unquote(revision))
      {:ok, [%{"_meta" => %{"ui" => %{"resourceUri" => @uri}}}]} = Test.list_tools(client)

      assert {:ok, [%{"uri" => @uri, "mimeType" => "text/html;profile=mcp-app"}]} =
               Test.list_resources(client)

      assert read(client) == %{
               "uri" => @uri,
               "mimeType" => "text/html;profile=mcp-app",
               "text" => @html,
               "_meta" => %{
                 "ui" => %{"permissions" => %{"camera" => %{}}, "prefersBorder" => false}
               }
             }
    end
  end

  test "a page without wishes has no _meta, and may depend on the caller" do
    page = App.page(@uri, &"<p>#{inspect(&1.principal)}</p>", name: "clock")
    client = Test.connect!(server(page).instance, principal: "ada")
    assert %{"text" => ~S(<p>"ada"</p>)} = contents = read(client)
    refute Map.has_key?(contents, "_meta")
  end

  test "a handler of the host's own returns contents" do
    spec = %ResourceSpec{uri: @uri, name: "clock", mime_type: App.mime_type()}
    own = fn %{uri: uri} -> uri |> App.contents(@html, domain: "clock") |> Result.resource() end
    client = server({:resource, spec, own})
    assert %{"_meta" => %{"ui" => %{"domain" => "clock"}}, "text" => @html} = read(client)
  end

  test "everything that a page may ask for is said in the words of the protocol" do
    assert App.meta(
             connect_domains: ["https://api.example.com", "wss://api.example.com:8443"],
             resource_domains: ["https://*.cdn.example.com"],
             frame_domains: ["http://localhost:4000"],
             base_uri_domains: [],
             permissions: [:camera, :microphone, :geolocation, :clipboard_write]
           ) == %{
             "ui" => %{
               "csp" => %{
                 "connectDomains" => ["https://api.example.com", "wss://api.example.com:8443"],
                 "resourceDomains" => ["https://*.cdn.example.com"],
                 "frameDomains" => ["http://localhost:4000"],
                 "baseUriDomains" => []
               },
               "permissions" => %{
                 "camera" => %{},
                 "microphone" => %{},
                 "geolocation" => %{},
                 "clipboardWrite" => %{}
               }
             }
           }
  end

  test "what is none of that is refused where it is written" do
    for {wrong, word} <- [
          {fn -> App.tool_meta("https://example.com") end, "ui://"},
          {fn -> App.tool_meta("ui://") end, "ui://"},
          {fn -> App.tool_meta(@uri, visibility: []) end, "visibility"},
          {fn -> App.tool_meta(@uri, visibility: [:user]) end, "visibility"},
          {fn -> App.meta(connect_domains: ["api.example.com"]) end, "connect_domains"},
          {fn -> App.meta(connect_domains: ["http://example.com"]) end, "connect_domains"},
          {fn -> App.meta(frame_domains: ["https://a.example/x"]) end, "frame_domains"},
          {fn -> App.meta(resource_domains: ["https://a.example; script-src *"]) end,
           "resource_domains"},
          {fn -> App.meta(base_uri_domains: "https://a.example") end, "base_uri_domains"},
          {fn -> App.meta(permissions: [:files]) end, "permissions"},
          {fn -> App.meta(domain: :here) end, "domain"},
          {fn -> App.meta(border: "yes") end, "border"},
          {fn -> App.meta(cors: true) end, "cors"},
          {fn -> App.page(@uri, 7, name: "clock") end, "a string or a function"},
          {fn -> App.page(@uri, @html, border: true) end, "name"}
        ] do
      assert_raise ArgumentError, ~r/#{Regex.escape(word)}/, wrong
    end
  end

  test "a client says whether it shows apps, of the session or with each request" do
    shown = fn _arguments, context -> {:ok, inspect(App.shown?(context))} end
    client = Test.start!(registrations: [{:tool, %ToolSpec{name: "shown"}, shown}])
    types = &%{extensions: %{"io.modelcontextprotocol/ui" => &1}}

    for {capabilities, answer} <- [
          {types.(%{mimeTypes: ["text/html", "text/html;profile=mcp-app"]}), "true"},
          {types.(%{mimeTypes: ["text/html"]}), "false"},
          {types.(%{mimeTypes: 7}), "false"},
          {types.(%{}), "false"},
          {%{extensions: []}, "false"},
          {%{}, "false"}
        ],
        revision <- ~w(2026-07-28 2025-11-25) do
      options = [revision: revision, capabilities: capabilities]
      client = Test.connect!(client.instance, options)
      assert {:ok, %{"content" => [%{"text" => ^answer}]}} = Test.call_tool(client, "shown")
    end
  end

  test "a tool whose page is no resource is refused by name" do
    client = Test.start!([])
    assert {:error, error} = BeamMCP.register_tool(client.instance, tool(), tells("noon"))
    message = Exception.message(error)
    assert message =~ ~s(tool "clock", _meta/ui/resourceUri) and message =~ @uri

    page = App.page(@uri, @html, name: "clock")
    assert :ok = BeamMCP.register_all(client.instance, [{:tool, tool(), tells("noon")}, page])
    assert :ok = BeamMCP.register_tool(client.instance, tool("later"), tells("noon"))

    spec = %ResourceSpec{uri: "ui://other", name: "other", mime_type: "text/html"}

    assert {:error, error} =
             BeamMCP.register_resource(client.instance, spec, fn _ -> {:ok, ""} end)

    assert Exception.message(error) =~ "text/html;profile=mcp-app"
  end
end
