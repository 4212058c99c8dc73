defmodule BeamMCP.Catalog.Registry do
  @moduledoc false
  # What the catalog process must not lose: which definitions are served, whose they are, and the
  # compiled catalog. The table belongs to `BeamMCP.Instance.Owner`, so a new catalog process goes
  # on where the old one ended. Rows:
  #
  #     {:current, catalog, next}       the compiled catalog, and the position of the next row
  #     {id, :catalog}                  declared by the catalog module
  #     {id, {position, definition}}    registered, in the order of their positions
  #     {id, :gone}                     about to be deleted
  #
  # A change is one insert, which ETS does whole or not at all.

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.Native

  @doc "Not compressed: such a table does not keep the resources of the native library alive."
  @spec new() :: :ets.table()
  def new, do: :ets.new(:catalog, [:public])

  @spec current(:ets.table()) :: {:ok, Native.catalog()} | :none
  def current(table) do
    case :ets.lookup(table, :current) do
      [{:current, catalog, _next}] -> {:ok, catalog}
      [] -> :none
    end
  end

  @doc "Who has the id: the catalog module, the registry, another definition, or nobody."
  @spec owner(:ets.table(), Definition.id()) :: Definition.id() | :catalog | :registry | nil
  def owner(table, id) do
    case :ets.lookup(table, id) do
      [{^id, :catalog}] -> :catalog
      [{^id, {_position, definition}}] -> definition.owner
      _gone_or_absent -> nil
    end
  end

  @doc "The definitions that a registered one brought along."
  @spec parts(:ets.table(), Definition.id()) :: [Definition.id()]
  def parts(table, id) do
    case :ets.lookup(table, id) do
      [{^id, {_position, definition}}] -> definition.parts
      _other -> []
    end
  end

  @doc "What was registered, in order."
  @spec registered(:ets.table()) :: [Definition.t()]
  def registered(table) do
    table
    |> :ets.select([{{:_, {:"$1", :"$2"}}, [], [{{:"$1", :"$2"}}]}])
    |> Enum.sort_by(&elem(&1, 0))
    |> Enum.map(&elem(&1, 1))
  end

  @doc "The ids that the catalog module declared."
  @spec declared(:ets.table()) :: [Definition.id()]
  def declared(table), do: :ets.select(table, [{{:"$1", :catalog}, [], [:"$1"]}])

  @doc """
  Remembers that `catalog` is served now, without `deleted` and with `put` in it. A registered
  definition that replaces another keeps its position, unless that one is deleted.
  """
  @spec commit(:ets.table(), Native.catalog(), [Definition.id()], [Definition.t()]) :: :ok
  def commit(table, catalog, deleted, put) do
    gone = Map.new(deleted, &{&1, :gone})
    {rows, next} = Enum.map_reduce(put, next(table), &row(table, gone, &1, &2))
    gone = rows |> Map.new() |> then(&Map.drop(gone, Map.keys(&1))) |> Map.to_list()
    true = :ets.insert(table, [{:current, catalog, next} | gone ++ rows])
    Enum.each(gone, fn {id, :gone} -> :ets.delete(table, id) end)
  end

  defp next(table) do
    case :ets.lookup(table, :current) do
      [{:current, _catalog, next}] -> next
      [] -> 0
    end
  end

  defp row(_table, _gone, %{owner: :catalog} = definition, next),
    do: {{Definition.id(definition), :catalog}, next}

  defp row(table, gone, definition, next) do
    id = Definition.id(definition)

    case :ets.lookup(table, id) do
      [{^id, {position, _replaced}}] when not is_map_key(gone, id) ->
        {{id, {position, definition}}, next}

      _new ->
        {{id, {next, definition}}, next + 1}
    end
  end
end
