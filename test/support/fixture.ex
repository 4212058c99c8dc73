defmodule BeamMCP.Fixture do
  @moduledoc "A host for tests: a catalog of a few tools and the function that runs them."

  defmodule Money do
    @moduledoc false
    defstruct [:amount]

    defimpl BeamMCP.Encoder do
      def encode(money), do: %{amount: money.amount, on: ~D[2026-07-28]}
    end
  end

  defmodule Endless do
    @moduledoc false
    defstruct []

    defimpl BeamMCP.Encoder do
      def encode(endless), do: endless
    end
  end

  defmodule Opaque do
    @moduledoc false
    defstruct [:secret]
  end

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    alias BeamMCP.ToolSpec

    @impl true
    def capabilities do
      %{
        tools: [echo(), add()] ++ Enum.map(plain(), &%ToolSpec{name: &1}),
        resources: [],
        prompts: []
      }
    end

    defp echo do
      %ToolSpec{
        name: "echo",
        description: "Returns its argument.",
        input_schema: %{
          "type" => "object",
          "properties" => %{"value" => %{}},
          "required" => ["value"]
        }
      }
    end

    defp add do
      %ToolSpec{
        name: :add,
        title: "Addition",
        description: "Adds two integers.",
        command_class: :observe,
        mode: :read_only,
        annotations: %{readOnlyHint: true},
        input_schema: %{
          type: :object,
          properties: %{a: %{type: :integer}, b: %{type: :integer}},
          required: [:a, :b]
        },
        output_schema: %{type: :object, properties: %{sum: %{type: :integer}}, required: [:sum]}
      }
    end

    defp plain,
      do: ~w(raise throw exit exit_normal kill hang wrong error pid context cancel_marker slow)a
  end

  defmodule Tools do
    @moduledoc false

    alias BeamMCP.Context

    def call("echo", %{value: value}, _context), do: {:ok, value}
    def call(:add, %{a: a, b: b}, _context), do: {:ok, %{sum: a + b}}
    def call(:raise, _arguments, _context), do: raise("the fixture raises")
    def call(:throw, _arguments, _context), do: throw(:fixture)
    def call(:exit, _arguments, _context), do: exit(:fixture)
    def call(:exit_normal, _arguments, _context), do: exit(:normal)
    def call(:kill, _arguments, _context), do: Process.exit(self(), :kill)
    def call(:hang, _arguments, _context), do: Process.sleep(:infinity)
    def call(:wrong, _arguments, _context), do: :what
    def call(:error, _arguments, _context), do: {:error, :enoent}
    def call(:pid, _arguments, _context), do: {:ok, %{pid: self()}}

    def call(:context, _arguments, context) do
      {:ok,
       context
       |> Map.from_struct()
       |> Map.drop([:instance, :trace, :headers])
       |> Map.put(:now, ~U[2026-07-28 00:00:00Z])}
    end

    def call(:slow, _arguments, _context) do
      send(:drain_test, {:slow, self()})

      receive do
        :go_on -> {:ok, "done"}
      end
    end

    def call(:cancel_marker, _arguments, context) do
      listener = :persistent_term.get({__MODULE__, :listener})

      on_cancel = fn ->
        Context.on_cancel(context, fn -> send(listener, {:cancelled, context.request_id}) end)
      end

      # Once from the call's own process, once from one that ends before the call does.
      on_cancel.()
      Task.await(Task.async(on_cancel))
      send(listener, {:running, context.request_id, self()})
      Process.sleep(:infinity)
    end
  end
end
