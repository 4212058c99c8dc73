defmodule BeamMCP.Mnesia do
  @moduledoc false
  # Tables of BeamMCP's own in the Mnesia that the host runs. Nothing else of it is touched: not its
  # schema's nodes, not its directory, not whether it runs.

  @compile {:no_warn_undefined, :mnesia}

  # Between two looks at the other copies, and how long one look waits for a node.
  @settle_ms 5
  @read_ms 500

  # Keys that one transaction of a sweep removes.
  @batch 100

  # So many different digests.
  @digests 0x1_0000_0000

  @typedoc "What a store's options say of its tables."
  @type settings :: %{
          :disc_copies => boolean(),
          :majority => boolean(),
          :load_timeout_ms => non_neg_integer(),
          optional(atom()) => term()
        }

  @doc "The name of a table; it depends on the namespace alone, so that all nodes know the same."
  @spec table!(String.t(), term()) :: atom()
  def table!(role, namespace) when is_atom(namespace) or is_binary(namespace) do
    name = if is_atom(namespace), do: inspect(namespace), else: namespace
    name = String.trim_leading(name, ":")

    if name =~ ~r/\A[A-Za-z0-9_.-]{1,150}\z/,
      do: String.to_atom("beam_mcp_#{role}_#{name}"),
      else: refuse!(namespace)
  end

  def table!(_role, namespace), do: refuse!(namespace)

  @doc "Has a copy of the table on this node: a new table, or one of another node."
  @spec open(atom(), keyword(), settings()) :: :ok | {:error, String.t()}
  def open(table, definition, settings) do
    storage = if settings.disc_copies, do: :disc_copies, else: :ram_copies
    definition = [{storage, [node()]}, {:majority, settings.majority} | definition]

    with :ok <- running(),
         :ok <- made(mnesia().create_table(table, definition), :already_exists),
         :ok <- copy(table, storage),
         :ok <- majority(table, settings.majority) do
      # Copies that do not come in time are missed by those who ask for them, not by the start.
      _loaded_or_late = mnesia().wait_for_tables([table], settings.load_timeout_ms)
      :ok
    else
      {:error, reason} -> {:error, "table #{table}: #{text(reason)}"}
    end
  end

  @doc "Gives this node's copy up when it is in memory and others have one: they are then all there are."
  @spec leave(atom()) :: :ok
  def leave(table) do
    if node() in mnesia().table_info(table, :ram_copies) and
         mnesia().table_info(table, :where_to_write) -- [node()] != [],
       do: mnesia().del_table_copy(table, node())

    :ok
  catch
    # Mnesia stopped first.
    :exit, _reason -> :ok
  end

  @doc "What `fun` returns, which is run possibly several times."
  @spec transaction((() -> value)) :: value | {:error, :unavailable} when value: term()
  def transaction(fun) do
    case mnesia().sync_transaction(fun) do
      {:atomic, value} ->
        value

      {:aborted, {missing, _what}}
      when missing in [:no_majority, :no_exists, :node_not_running] ->
        {:error, :unavailable}

      {:aborted, {:refused, value}} ->
        value

      {:aborted, reason} ->
        raise "a transaction was aborted: #{inspect(reason)}"
    end
  end

  @doc "A row as this node has it, outside transactions."
  @spec read(atom(), term()) :: [tuple()]
  def read(table, key), do: mnesia().dirty_read(table, key)

  @doc "A row that no other transaction changes before this one ends."
  @spec lock(atom(), term()) :: [tuple()]
  def lock(table, key), do: mnesia().wread({table, key})

  @spec write(tuple()) :: :ok
  def write(row), do: mnesia().write(row)

  @spec delete(atom(), term()) :: :ok
  def delete(table, key), do: mnesia().delete({table, key})

  @doc "The key after this one, outside transactions."
  @spec next(atom(), term()) :: term()
  def next(table, key), do: mnesia().dirty_next(table, key)

  @doc "What a match specification finds, outside transactions."
  @spec select(atom(), :ets.match_spec()) :: [term()]
  def select(table, spec), do: mnesia().dirty_select(table, spec)

  @doc "Has each key that a match specification finds removed, so many in one transaction."
  @spec sweep(atom(), :ets.match_spec(), (term() -> term())) :: :ok
  def sweep(table, spec, remove) do
    for keys <- table |> select(spec) |> Enum.chunk_every(@batch),
        do: transaction(fn -> Enum.each(keys, remove) end)

    :ok
  end

  @spec size(atom()) :: non_neg_integer()
  def size(table), do: mnesia().table_info(table, :size)

  @doc """
  Waits until what a transaction made of one row is on every copy: with a majority Mnesia returns once
  it is decided and not when it is done.
  """
  @spec settle(atom(), term(), non_neg_integer()) :: :ok
  def settle(table, key, tries \\ 100) do
    others = mnesia().table_info(table, :where_to_write) -- [node()]
    own = {:ok, digest(table, key)}
    read = :erpc.multicall(others, __MODULE__, :digest, [table, key], @read_ms)

    if tries > 0 and Enum.any?(read, &(elem(&1, 0) == :ok and &1 != own)) do
      Process.sleep(@settle_ms)
      settle(table, key, tries - 1)
    else
      :ok
    end
  catch
    # What was decided stands, also where Mnesia stops now.
    :exit, _stopped -> :ok
  end

  @doc "Stands for a row as this node has it, in place of what may be a large one."
  @spec digest(atom(), term()) :: non_neg_integer()
  def digest(table, key), do: :erlang.phash2(read(table, key), @digests)

  @doc "Ends a transaction without what it wrote; it returns `value`."
  @spec refuse(term()) :: no_return()
  def refuse(value), do: mnesia().abort({:refused, value})

  @doc "Whether what this node reads of the table is what the majority has."
  @spec available?(atom()) :: boolean()
  def available?(table) do
    active = mnesia().table_info(table, :where_to_write)

    case mnesia().table_info(table, :majority) do
      true -> 2 * length(active) > length(copies(table))
      false -> active != []
    end
  catch
    :exit, _no_table -> false
  end

  @doc "Whether it is this node's turn to do what one node does for all."
  @spec first?(atom()) :: boolean()
  def first?(table) do
    table |> mnesia().table_info(:where_to_write) |> Enum.min(fn -> nil end) == node()
  catch
    :exit, _no_table -> false
  end

  @doc "The clock that stores go by: nodes have no other in common."
  @spec wall_ms() :: integer()
  def wall_ms, do: System.system_time(:millisecond)

  defp running do
    if Code.ensure_loaded?(:mnesia) and mnesia().system_info(:is_running) == :yes,
      do: :ok,
      else:
        {:error, "Mnesia does not run: list :mnesia in extra_applications of your application"}
  end

  defp copy(table, storage) do
    cond do
      node() in mnesia().table_info(table, storage) ->
        :ok

      node() in copies(table) ->
        made(mnesia().change_table_copy_type(table, node(), storage), :already_exists)

      true ->
        made(mnesia().add_table_copy(table, node(), storage), :already_exists)
    end
  end

  defp majority(table, majority?) do
    if mnesia().table_info(table, :majority) == majority?,
      do: :ok,
      else: made(mnesia().change_table_majority(table, majority?), :already_exists)
  end

  defp copies(table) do
    mnesia().table_info(table, :ram_copies) ++ mnesia().table_info(table, :disc_copies)
  end

  # Another node may have done the same a moment before.
  defp made({:atomic, :ok}, _same), do: :ok
  defp made({:aborted, reason}, same) when elem(reason, 0) == same, do: :ok
  defp made({:aborted, reason}, _same), do: {:error, reason}

  # Behind a function, so that Mix does not ask for an application that is the host's to start.
  defp mnesia, do: :mnesia

  defp text(text) when is_binary(text), do: text
  defp text(reason), do: inspect(reason)

  @spec refuse!(term()) :: no_return()
  defp refuse!(namespace) do
    raise ArgumentError,
          "a store in Mnesia names its tables after the option namespace: give an atom or a string of " <>
            "1 to 150 of A-Z a-z 0-9 _ . and -, got: #{inspect(namespace)}"
  end
end
