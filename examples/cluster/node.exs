# One node of three that serve the same clients; `run` beside this file starts all of them.
#
#   elixir --name one@127.0.0.1 -pa BEAM_MCP/ebin node.exs 4041

defmodule Cluster.Catalog do
  @moduledoc "A tool that says which node answers, and one that asks first and waits for the answer."

  @behaviour BeamMCP.Catalog

  alias BeamMCP.{Context, ToolSpec}

  @consent %{type: "object", properties: %{sure: %{type: "boolean"}}, required: ["sure"]}

  @impl true
  def capabilities do
    tools = [%ToolSpec{name: :whereabouts}, %ToolSpec{name: :sign, resume: :park}]
    %{tools: tools, resources: [], prompts: []}
  end

  @doc "The dispatch function."
  def call(:whereabouts, _arguments, _context), do: {:ok, Atom.to_string(node())}

  def call(:sign, _arguments, context) do
    case Context.elicit(context, "Sign on #{node()}?", @consent) do
      {:accept, %{"sure" => true}} -> {:ok, "Signed on #{node()}."}
      _otherwise -> {:ok, "Not signed."}
    end
  end
end

nodes = for name <- ~w(one two three), do: :"#{name}@127.0.0.1"
[port] = System.argv()

# The nodes' Mnesias are connected before BeamMCP makes its tables in them. Of nodes that start at the
# same time each waits for the ones before it, so that no two make the same table.
before = Enum.take_while(nodes, &(&1 != node()))
Enum.each(nodes, &Node.connect/1)

connected = fn connected ->
  unless before == [] or Enum.any?(before, &(Node.connect(&1) == true)) do
    Process.sleep(100)
    connected.(connected)
  end
end

connected.(connected)
Application.put_env(:mnesia, :extra_db_nodes, nodes -- [node()])

for application <- [:mnesia, :beam_mcp],
    do: {:ok, _started} = Application.ensure_all_started(application)

{:ok, _instance} =
  BeamMCP.start_link(
    name: Cluster.MCP,
    catalog: Cluster.Catalog,
    dispatch: &Cluster.Catalog.call/3,
    session_store: {BeamMCP.SessionStore.Mnesia, []},
    # Of an example: make your own with `openssl rand -base64 32`, and read it where secrets are.
    secrets: [String.duplicate("not a secret at all ", 2)],
    http: [port: String.to_integer(port), authorize: :none, allowed_origins: []]
  )

IO.puts("#{node()} serves http://127.0.0.1:#{port}/mcp")
Process.sleep(:infinity)
