defmodule BeamMCP.Catalog.Handlers do
  @moduledoc false
  # The host's own functions of definitions, by number.
  #
  # The native library knows a handler by its number, never by the function. A number stands for
  # one definition in one compilation: when the last snapshot and the last call that hold it have
  # ended, the library says so and the row goes. A definition that is compiled again gets a number
  # of its own. The table belongs to `BeamMCP.Instance.Owner`; each row is `{number, name, handler}`.

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.{Handler, Instance, Native}

  # As many as the native library hands back at once.
  @batch 1_000

  @typedoc "Definitions as the native library takes them, and the numbers given out for them."
  @type assigned :: {[{Definition.kind(), map()}], [non_neg_integer()]}

  @doc "Gives each definition what the native library knows its handler by."
  @spec assign(Instance.t(), [Definition.t()]) :: assigned()
  def assign(instance, definitions) do
    Enum.map_reduce(definitions, [], fn definition, numbers ->
      case number(instance, definition) do
        nil -> {native(definition, declared(definition)), numbers}
        number -> {native(definition, number), [number | numbers]}
      end
    end)
  end

  @doc "Takes back numbers that no snapshot holds."
  @spec forget(Instance.t(), [non_neg_integer()]) :: :ok
  def forget(instance, numbers), do: Enum.each(numbers, &:ets.delete(instance.handlers, &1))

  @doc "Takes back the numbers that the native library has done with."
  @spec collect(Instance.t()) :: :ok
  def collect(instance) do
    case Native.released_handlers(instance.native, @batch) do
      [] ->
        :ok

      numbers ->
        forget(instance, numbers)
        collect(instance)
    end
  end

  @doc "The name and function of a call's handler; a running call keeps its row."
  @spec fetch!(Instance.t(), non_neg_integer()) :: {name :: term(), Handler.t()}
  def fetch!(instance, number) do
    [{^number, name, handler}] = :ets.lookup(instance.handlers, number)
    {name, handler}
  end

  defp number(_instance, %{handler: nil}), do: nil

  defp number(instance, definition) do
    number = System.unique_integer([:positive])
    true = :ets.insert(instance.handlers, {number, definition.name, definition.handler})
    number
  end

  # Without a function of its own: the dispatch function and `get_prompt` go by the name, of a read
  # it says which definition matched, a completion goes by what was asked for.
  defp declared(%{kind: :completion}), do: :catalog
  defp declared(%{name: name}), do: name

  defp native(%{kind: kind, native: map}, handler), do: {kind, Map.put(map, :handler, handler)}
end
