defmodule BeamMCP.Test.Guide do
  @moduledoc """
  Walks through a guide as its reader would.

  Its expressions are evaluated in order, each with what the ones before it bound. A JSON block with
  a `method` is a request of a client, and the JSON block after it is what the result has, or the
  response when that is an error.
  """

  alias BeamMCP.Test.{Docs, DocsCode}

  @type step ::
          {:start, Docs.Block.t(), {module(), keyword()}}
          | {:hold, Docs.Block.t(), term()}
          | {:request, Docs.Block.t(), request :: String.t(), shown :: String.t()}

  @doc """
  Calls `run` with each step: an instance to start, a value that must hold, a request with what is
  shown of its answer.
  """
  @spec walk(Path.t(), (step() -> any())) :: :ok
  def walk(file, run) do
    file
    |> Docs.blocks(["elixir", "json"])
    |> Enum.reject(&(&1.language == "elixir" and not DocsCode.expression?(&1)))
    |> walk(DocsCode.state(), run)
  end

  defp walk([], _state, _run), do: :ok

  defp walk([%{language: "elixir"} = block | rest], state, run) do
    {value, state} = DocsCode.value(block, state)
    run.(step(block, value))
    walk(rest, state, run)
  end

  defp walk([%{language: "json"} = request, %{language: "json"} = shown | rest], state, run) do
    run.({:request, request, request.text, shown.text})
    walk(rest, state, run)
  end

  defp step(block, {BeamMCP, options}), do: {:start, block, {BeamMCP, options}}
  defp step(block, value), do: {:hold, block, value}
end
