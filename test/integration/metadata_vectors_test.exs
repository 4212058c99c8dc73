defmodule BeamMCP.MetadataVectorsTest do
  # The recorded places of the metadata (RFC 9728 §3) over a socket, and what has none at start.
  use ExUnit.Case, async: false

  alias BeamMCP.Test.{RawHTTP, Vectors, Wire}

  @moduletag :integration
  @moduletag :capture_log

  test "the metadata of each resource is where it was recorded, or there is none" do
    rows = Vectors.all("metadata.json")

    for row <- rows do
      case row do
        %{"metadata_url" => url} -> served(row["resource"], url)
        %{"error" => _word} -> refused(row["resource"])
      end
    end

    assert Vectors.driven?(rows, "metadata.json")
  end

  test "the document says what was recorded" do
    %{"config" => config, "expected" => expected} = Vectors.load("metadata.json")["document"]
    [issuer] = config["authorization_servers"]

    port =
      start(config["resource"], [
        {:issuers, [[issuer: issuer, keys: {:static, Vectors.read("jwks.json")}]]},
        {:scopes_supported, config["scopes_supported"]},
        {:resource_name, config["resource_name"]},
        {:dpop, String.to_existing_atom(config["dpop"])},
        {:mtls, if(config["mtls"], do: {:trusted_proxy, ["10.0.0.0/8"], "client-cert"})}
      ])

    {:ok, document} = BeamMCP.Native.decode(metadata(port, "/mcp").body)
    assert document == expected
  end

  defp served(resource, url) do
    port = start(resource, serve_root_metadata: false)
    "/.well-known/oauth-protected-resource" <> place = target(url)
    response = metadata(port, place)
    assert response.status == 200, resource
    {:ok, document} = BeamMCP.Native.decode(response.body)
    assert document["resource"] == resource

    # A challenge leads there.
    [bearer | _dpop] = port |> RawHTTP.call("whoami") |> RawHTTP.header_values("www-authenticate")

    assert bearer =~ ~s(resource_metadata="#{url}")
    stop_supervised!(__MODULE__)
  end

  defp refused(resource) do
    error = assert_raise ArgumentError, fn -> BeamMCP.start_link(options(resource, [])) end
    assert error.message =~ "option http[0].authorize.resource: "
  end

  defp metadata(port, place),
    do: RawHTTP.request(port, "GET", "/.well-known/oauth-protected-resource" <> place)

  # Path and query, as they are in a request.
  defp target(url) do
    uri = URI.parse(url)
    if uri.query, do: "#{uri.path}?#{uri.query}", else: uri.path
  end

  defp start(resource, more) do
    start_supervised!({BeamMCP, options(resource, more)}, id: __MODULE__)
    Wire.port(__MODULE__)
  end

  defp options(resource, more) do
    issuer = [issuer: "https://auth.example.com", keys: {:static, Vectors.read("jwks.json")}]
    oauth = Keyword.merge([resource: resource, issuers: [issuer]], more)
    Wire.options(__MODULE__, http: [authorize: {:oauth, oauth}])
  end
end
