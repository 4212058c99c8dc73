defmodule BeamMCP.Fixture.Declared do
  @moduledoc "Modules whose connectome is known: who calls whom, and what cannot be known."

  defmodule Alpha do
    @moduledoc false
    alias BeamMCP.Fixture.Declared.Beta

    def run(text), do: text |> Beta.trim() |> again()

    defp again(text) when byte_size(text) > 10, do: text |> binary_part(0, 10) |> again()
    defp again(text), do: text
  end

  defmodule Beta do
    @moduledoc false
    def trim(text), do: String.trim(text)
  end

  defmodule Gamma do
    @moduledoc false
    def shout(text), do: text
  end

  defmodule Dyn do
    @moduledoc false
    # A module, arguments and a function that only a run decides.
    def call(module, argument), do: module.run(argument)

    def apply_to(function, arguments),
      do: apply(BeamMCP.Fixture.Declared.Gamma, function, arguments)

    def fun(function, argument), do: function.(argument)
  end

  defmodule MacroOnly do
    @moduledoc false
    defmacro shouted(text), do: BeamMCP.Fixture.Declared.Gamma.shout(text)
  end

  defmodule Catalog do
    @moduledoc false
    @behaviour BeamMCP.Catalog

    alias BeamMCP.{PromptSpec, ResourceSpec, ResourceTemplateSpec, ToolSpec}

    @impl true
    def capabilities do
      %{
        tools: [
          %ToolSpec{name: "echo", command_class: :observe, mode: :read_only},
          %ToolSpec{name: :write, command_class: :mutate, mode: :proposal}
        ],
        resources: [%ResourceSpec{uri: "r://a", name: "a"}],
        templates: [%ResourceTemplateSpec{uri_template: "r://t/{id}", name: "t"}],
        prompts: [%PromptSpec{name: :greet}]
      }
    end
  end

  defmodule Tree do
    @moduledoc false
    use Supervisor

    alias BeamMCP.Fixture.Declared.{Beta, Gamma}

    @impl true
    def init(_argument) do
      nested = [%{id: :gamma, start: {Gamma, :start_link, [1]}}]

      children = [
        %{id: :beta, start: {Beta, :start_link, []}},
        %{id: :tasks, start: {Task.Supervisor, :start_link, [[]]}},
        %{id: :branch, start: {Supervisor, :start_link, [nested, [strategy: :one_for_one]]}}
      ]

      Supervisor.init(children, strategy: :one_for_one)
    end
  end

  @doc "The modules in scope of the published example."
  def modules, do: [Alpha, Beta, Catalog, Dyn, Gamma, MacroOnly]
end
