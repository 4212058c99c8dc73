defmodule BeamMCP.Test.Wire do
  @moduledoc "A host for tests on the wire: one tool for each thing that a client can provoke."

  alias BeamMCP.{Context, Result, ToolSpec}
  alias BeamMCP.Test.RawHTTP

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities, do: %{tools: BeamMCP.Test.Wire.tools(), resources: [], prompts: []}
  end

  @doc "The options of an instance with this host and one listener on a free port."
  def options(name, options \\ []) do
    {http, options} = Keyword.pop(options, :http, [])
    listener = Keyword.merge([port: 0, authorize: :none, allowed_origins: []], http)
    host = [name: name, catalog: Catalog, dispatch: &__MODULE__.call/3, http: [listener]]
    Keyword.merge(host, options)
  end

  @doc "Starts an instance with this host that outlives the caller; its port."
  def start_apart(name, options) do
    caller = self()

    spawn(fn ->
      {:ok, _supervisor} = BeamMCP.start_link(options(name, options))
      send(caller, {:started, name})
      Process.sleep(:infinity)
    end)

    receive do
      {:started, ^name} -> {:ok, port(name)}
    after
      5_000 -> {:error, :timeout}
    end
  end

  @doc "The port of an instance's listener."
  def port(name) do
    [listener] = BeamMCP.info!(name).listeners
    BeamMCP.Listener.port(listener)
  end

  @doc "Opens a session of 2025-11-25; the headers of its requests."
  def session(port) do
    params =
      ~s({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})

    body = ~s({"jsonrpc":"2.0","id":1,"method":"initialize","params":#{params}})
    [id] = port |> RawHTTP.post(body) |> RawHTTP.header_values("mcp-session-id")
    [mcp_session_id: id, mcp_protocol_version: "2025-11-25"]
  end

  @doc "Sends `{:wire, event}` to the test's process when a tool reports."
  def listen(pid \\ self()), do: :persistent_term.put(__MODULE__, pid)

  @doc false
  def tools do
    [
      tool("echo", %{"text" => %{"type" => "string"}}, ["text"]),
      tool("any", %{"value" => %{}}, []),
      tool("sleep", %{"ms" => %{"type" => "integer"}}, ["ms"]),
      tool("region", %{"region" => %{"type" => "string", "x-mcp-header" => "Region"}}, ["region"]),
      tool("nullable", %{"value" => %{"type" => "number", "nullable" => true}}, ["value"]),
      tool("union", %{"value" => %{"type" => ["number", "null"]}}, ["value"]),
      %ToolSpec{name: "parked", resume: :park},
      tuple("tuple_7", "http://json-schema.org/draft-07/schema#", "items"),
      tuple("tuple_2020", "https://json-schema.org/draft/2020-12/schema", "prefixItems")
      | Enum.map(~w(blob error raise exit kill hang mark whoami roots), &%ToolSpec{name: &1})
    ]
  end

  @doc false
  def call("echo", %{text: text}, _context), do: {:ok, text}
  def call("any", arguments, _context), do: {:ok, Map.new(arguments)}
  def call("region", %{region: region}, _context), do: {:ok, region}
  def call("nullable", %{value: value}, _context), do: {:ok, %{value: value}}
  def call("union", %{value: value}, _context), do: {:ok, %{value: value}}
  def call("tuple_" <> _dialect, _arguments, _context), do: {:ok, "served"}
  def call("error", _arguments, _context), do: {:error, "no such place"}
  def call("raise", _arguments, _context), do: raise("on purpose")
  def call("exit", _arguments, _context), do: exit(:on_purpose)
  def call("kill", _arguments, _context), do: report_and_wait(:kill)
  def call("hang", _arguments, _context), do: Process.sleep(:infinity)

  def call("sleep", %{ms: ms}, _context) do
    Process.sleep(ms)
    {:ok, Integer.to_string(ms)}
  end

  def call("blob", _arguments, _context) do
    blob = Base.encode64(<<251, 255>>)
    resource = %{uri: "test://blob", mimeType: "application/octet-stream", blob: blob}
    %Result{content: [%{type: "resource", resource: resource}]}
  end

  def call("mark", _arguments, context) do
    Context.on_cancel(context, fn -> report({:cancelled, context.request_id}) end)
    report({:running, context.request_id})
    Process.sleep(3_000)
    report({:finished, context.request_id})
    {:ok, "finished"}
  end

  def call("whoami", _arguments, context) do
    {:ok,
     %{
       principal: inspect(context.principal),
       scopes: context.scopes,
       sender: context.sender
     }}
  end

  def call("roots", _arguments, context) do
    Context.on_cancel(context, fn -> report({:cancelled, context.request_id}) end)
    {:ok, inspect(Context.roots(context))}
  end

  def call("parked", _arguments, context) do
    report({:parked, node(), self()})
    roots = inspect(Context.roots(context))
    report({:resumed, node(), self()})
    Context.progress(context, 1)
    if roots =~ "slow", do: Process.sleep(1_000)
    {:ok, "#{node()} #{roots}"}
  end

  defp report_and_wait(name) do
    report({name, self()})
    Process.sleep(:infinity)
  end

  defp report(event), do: send(:persistent_term.get(__MODULE__), {:wire, event})

  defp tool(name, properties, required) do
    schema = %{"type" => "object", "properties" => properties, "required" => required}
    %ToolSpec{name: name, description: "The tool #{name}.", input_schema: schema}
  end

  # The first item is an integer, the second a string.
  defp tuple(name, dialect, keyword) do
    pair = %{
      "type" => "array",
      keyword => [%{"type" => "integer"}, %{"type" => "string"}]
    }

    schema = %{"$schema" => dialect, "type" => "object", "properties" => %{"pair" => pair}}
    %ToolSpec{name: name, input_schema: schema}
  end
end
