# BeamMCP with its default checks. Run by `mix run` in MIX_ENV=prod; BENCH_TOOLS sets the size of the catalog,
# BENCH_PAGE_SIZE the option `page_size`; BENCH_STREAMS adds tools that tell of changes; with BENCH_TOKENS it wants an
# access token of BENCH_TOKENS_COUNT that it writes there, one in each line.

defmodule Bench.Catalog do
  @behaviour BeamMCP.Catalog

  @input_schema %{
    "type" => "object",
    "properties" => %{
      "text" => %{"type" => "string"},
      "count" => %{"type" => "integer"},
      "ratio" => %{"type" => "number"},
      "flag" => %{"type" => "boolean"},
      "tags" => %{"type" => "array", "items" => %{"type" => "string"}}
    },
    "required" => ["text"],
    "additionalProperties" => false
  }

  @impl true
  def capabilities, do: %{tools: tools(), resources: [blob()], prompts: []}

  def call(:echo, %{text: text}, _context), do: {:ok, text}

  # What `bin/bench --streams` calls.
  def registrations(nil), do: []

  def registrations(_streams) do
    [
      {:tool, %BeamMCP.ToolSpec{name: "notify"}, &__MODULE__.notify/2},
      {:tool, %BeamMCP.ToolSpec{name: "burst"}, &__MODULE__.burst/2}
    ]
  end

  def notify(_arguments, context) do
    :ok = BeamMCP.notify_changed(context.instance, :tools)
    {:ok, "told"}
  end

  def burst(_arguments, context) do
    for number <- 1..5_000 do
      uri = "bench://directory/#{number}"
      :ok = BeamMCP.notify_resource_updated(context.instance, uri, within: "bench://directory")
    end

    {:ok, "told"}
  end

  # The host hands over raw bytes; the library makes Base64 of them.
  def read(%{uri: uri}, bytes), do: {:ok, BeamMCP.Content.resource_blob(uri, bytes)}

  # The one that is called stands in the middle.
  defp tools do
    count = "BENCH_TOOLS" |> System.get_env("1") |> String.to_integer()
    others = for index <- 2..count//1, do: tool("other_#{index}")
    List.insert_at(others, div(count, 2), tool(:echo))
  end

  defp blob do
    bytes = 0..255 |> Enum.into(<<>>, &<<&1>>) |> :binary.copy(4_096)

    %BeamMCP.ResourceSpec{
      uri: "bench://blob",
      name: "blob",
      handler: {__MODULE__, :read, [bytes]}
    }
  end

  defp tool(name) do
    %BeamMCP.ToolSpec{
      name: name,
      description: "Returns its text",
      command_class: :observe,
      mode: :read_only,
      input_schema: @input_schema
    }
  end
end

defmodule Bench.Tokens do
  # ES256 tokens, as an issuer would sign them (RFC 9068).

  @issuer "https://auth.example.com"
  @resource "https://mcp.example.com/mcp"

  def authorize(nil), do: :none

  def authorize(path) do
    count = "BENCH_TOKENS_COUNT" |> System.fetch_env!() |> String.to_integer()
    {<<4, x::binary-32, y::binary-32>>, secret} = :crypto.generate_key(:ecdh, :secp256r1)
    File.write!(path, for(number <- 1..count, do: [token(number, secret), "\n"]))
    key = %{"kty" => "EC", "crv" => "P-256", "kid" => "bench", "x" => encode(x), "y" => encode(y)}
    issuer = [issuer: @issuer, keys: {:static, %{"keys" => [key]}}]
    {:oauth, resource: @resource, issuers: [issuer]}
  end

  defp token(number, secret) do
    now = System.os_time(:second)

    claims = %{
      iss: @issuer,
      aud: @resource,
      sub: "bench",
      client_id: "load",
      jti: "token-#{number}",
      iat: now,
      exp: now + 86_400,
      scope: "mcp:tools:call"
    }

    signed = segment(%{alg: "ES256", typ: "at+jwt", kid: "bench"}) <> "." <> segment(claims)
    signature = raw(:crypto.sign(:ecdsa, :sha256, signed, [secret, :secp256r1]))
    signed <> "." <> encode(signature)
  end

  # The two numbers, without the frame that ASN.1 puts around them.
  defp raw(<<0x30, _all, 0x02, size, r::binary-size(size), 0x02, _size, s::binary>>) do
    [r, s] = Enum.map([r, s], &:binary.decode_unsigned/1)
    <<r::256, s::256>>
  end

  defp segment(members) do
    {:ok, json} = BeamMCP.Native.encode(members)
    encode(json)
  end

  defp encode(bytes), do: Base.url_encode64(bytes, padding: false)
end

port = "PORT" |> System.fetch_env!() |> String.to_integer()
page_size = "BENCH_PAGE_SIZE" |> System.get_env("100") |> String.to_integer()
authorize = Bench.Tokens.authorize(System.get_env("BENCH_TOKENS"))

{:ok, _supervisor} =
  Supervisor.start_link(
    [
      {BeamMCP,
       name: Bench,
       catalog: Bench.Catalog,
       dispatch: &Bench.Catalog.call/3,
       page_size: page_size,
       registrations: Bench.Catalog.registrations(System.get_env("BENCH_STREAMS")),
       http: [ip: {127, 0, 0, 1}, port: port, authorize: authorize, allowed_origins: []]}
    ],
    strategy: :one_for_one
  )

IO.puts("READY #{port}")
Process.sleep(:infinity)
