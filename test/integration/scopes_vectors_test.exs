defmodule BeamMCP.ScopesVectorsTest do
  # The recorded scope decisions of test/fixtures/auth over a socket: status, challenge and body as a
  # client sees them; what is no configuration is refused at start.
  use ExUnit.Case, async: false

  alias BeamMCP.{PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}
  alias BeamMCP.Test.{AccessToken, RawHTTP, Vectors, Wire}

  @moduletag :integration
  @moduletag :capture_log

  @metadata ~s(resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp")

  # Whoever has these opens a session; the request that is judged comes with those of its case.
  @everything BeamMCP.Scopes.all() ++ ["workspace.mcp"]

  test "every scope decision is answered as recorded" do
    cases = Vectors.all("scopes.json")

    for one <- cases do
      case one["expect"]["decision"] do
        "config_error" -> refused_at_start(one)
        decision -> answered(decision, one)
      end
    end

    assert Vectors.driven?(cases, "scopes.json")
  end

  defp refused_at_start(%{"id" => id} = one) do
    Process.flag(:trap_exit, true)

    started =
      try do
        BeamMCP.start_link(options(one))
      rescue
        error in ArgumentError -> {:error, error}
      end

    assert {:error, error} = started, id
    assert Exception.message(error) =~ ~r/scope|implies/, id
    if one["definition"], do: assert(Exception.message(error) =~ "selected", id)
  end

  defp answered(decision, %{"id" => id} = one) do
    start_supervised!({BeamMCP, options(one)}, id: __MODULE__)
    port = Wire.port(__MODULE__)
    check(decision, one, request(port, one), id)
    stop_supervised!(__MODULE__)
  end

  defp check("permit", _one, response, id) do
    assert response.status == 200, id
    refute response.body =~ "Unknown", id
  end

  defp check("unknown", _one, response, id) do
    assert response.status == 200, id
    assert response.body =~ ~s("code":-32602,"message":"Unknown tool: selected"), id
    assert RawHTTP.header_values(response, "www-authenticate") == [], id
  end

  defp check("challenge", %{"expect" => expected}, response, id) do
    assert response.status == expected["status"], id

    assert RawHTTP.header_values(response, "www-authenticate") == [
             ~s(Bearer error="#{expected["error"]}", error_description="More scopes are needed for this operation", ) <>
               ~s(scope="#{expected["scope"]}", #{@metadata})
           ],
           id

    assert RawHTTP.header_values(response, "cache-control") == ["no-store"], id
    scopes = expected["scope"] |> String.split(" ") |> Enum.map_join(",", &~s("#{&1}"))

    assert response.body ==
             ~s({"jsonrpc":"2.0","id":1,"error":{"code":-31403,"message":"Insufficient scope",) <>
               ~s("data":{"requiredScopes":[#{scopes}]}}}),
           id
  end

  # A client of 2025 alone may ask for a sign of life, in a session.
  defp request(port, %{"method" => "ping"} = one) do
    session = session(port)
    body = ~s({"jsonrpc":"2.0","id":1,"method":"ping"})
    RawHTTP.post(port, body, headers: session ++ AccessToken.header(one["granted"]))
  end

  defp request(port, %{"method" => "tools/call"} = one) do
    RawHTTP.call(port, "selected", "{}", headers: AccessToken.header(one["granted"]))
  end

  defp request(port, one) do
    {:ok, json} = BeamMCP.Native.encode(one["params"] || %{})
    # Without the braces: the members that come before `_meta`.
    body = RawHTTP.body(one["method"], String.slice(json, 1..-2//1))
    headers = AccessToken.header(one["granted"])
    RawHTTP.modern(port, one["method"], "", body: body, headers: headers)
  end

  defp session(port) do
    params =
      ~s({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})

    body = ~s({"jsonrpc":"2.0","id":1,"method":"initialize","params":#{params}})
    response = RawHTTP.post(port, body, headers: AccessToken.header(@everything))
    [id] = RawHTTP.header_values(response, "mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"]
  end

  defp options(one) do
    policy = one["policy"]

    [
      name: __MODULE__,
      registrations: registrations(one["definition"]),
      scope_map: policy["scope_map"] || %{},
      scope_policy: selections(policy["scope_policy"] || %{}),
      default_scopes: policy["default_scopes"] || [],
      implies: policy["implies"] || %{},
      http: [port: 0, authorize: AccessToken.authorize(), allowed_origins: []]
    ]
  end

  defp registrations(definition) do
    definition = definition || %{"required" => [], "alternatives" => [], "denial" => nil}

    tool = %ToolSpec{
      name: "selected",
      required_scopes: definition["required"],
      alternative_scope_sets: definition["alternatives"],
      denial: denial(definition["denial"])
    }

    done = fn _asked -> {:ok, "done"} end

    [
      {:tool, tool, done},
      {:resource, %ResourceSpec{uri: "file:///a", name: "a"}, done},
      {:template, %ResourceTemplateSpec{uri_template: "x:///{a}", name: "x"}, done},
      {:prompt, %PromptSpec{name: "p"}, done},
      {:completion, {:resource, "x:///{a}"}, fn _asked -> {:ok, []} end}
    ]
  end

  defp denial(nil), do: nil
  defp denial(denial), do: String.to_existing_atom(denial)

  defp selections(policy),
    do: Map.new(policy, fn {method, selection} -> {method, String.to_atom(selection)} end)
end
