defmodule BeamMCP.Test.TaskHost do
  @moduledoc "A host for tests on several nodes: tools whose calls become tasks."

  alias BeamMCP.{Context, ToolSpec}

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    @impl true
    def capabilities do
      tools =
        for name <- ~w(where soon ask hang)a, do: %ToolSpec{name: name, task_support: :required}

      %{tools: tools, resources: [], prompts: []}
    end
  end

  @doc "The options of an instance with this host, as `BeamMCP.Test.Wire.options/2`."
  def options(options), do: [catalog: Catalog, dispatch: &__MODULE__.call/3] ++ options

  @doc "Calls a tool of an instance of this node, by a client that leaves then."
  def begin(name, tool, capabilities) do
    client = BeamMCP.Test.connect!(name, capabilities: capabilities)
    answer = BeamMCP.Test.call_tool(client, tool)
    BeamMCP.Test.close(client)
    answer
  end

  @doc false
  def call(:where, _arguments, _context), do: {:task, fn _context -> {:ok, "#{node()}"} end}
  def call(:soon, _arguments, _context), do: {:task, fn _context -> {:ok, soon()} end}
  def call(:hang, _arguments, _context), do: {:task, fn _context -> Process.sleep(:infinity) end}

  def call(:ask, _arguments, _context) do
    form = %{type: "object", properties: %{ok: %{type: "boolean"}}, required: ["ok"]}
    {:task, fn context -> {:ok, inspect(Context.elicit(context, "Go on?", form, key: :go))} end}
  end

  defp soon do
    Process.sleep(1_000)
    "#{node()}"
  end
end
