defmodule Protected.Issuer.Memory do
  @moduledoc false
  # What an issuer remembers: clients, codes, refresh tokens, proofs. When it is full it starts anew.

  @max_rows 10_000

  @type t :: :ets.table()
  @type kind :: :client | :code | :refresh | :proof

  @spec new() :: t()
  def new, do: :ets.new(__MODULE__, [:public])

  @doc "Remembers a value under a new random name."
  @spec keep(t(), kind(), term()) :: name :: String.t()
  def keep(memory, kind, value) do
    name = Base.url_encode64(:crypto.strong_rand_bytes(18), padding: false)
    true = add(memory, kind, name, value)
    name
  end

  @doc "Whether `name` is new and now remembered."
  @spec add(t(), kind(), String.t(), term()) :: boolean()
  def add(memory, kind, name, value) do
    if :ets.info(memory, :size) >= @max_rows, do: :ets.delete_all_objects(memory)
    :ets.insert_new(memory, {{kind, name}, value})
  end

  @spec fetch(t(), kind(), term()) :: {:ok, term()} | :error
  def fetch(memory, kind, name), do: found(:ets.lookup(memory, {kind, name}))

  @doc "Fetches what can be used once."
  @spec take(t(), kind(), term()) :: {:ok, term()} | :error
  def take(memory, kind, name), do: found(:ets.take(memory, {kind, name}))

  defp found([{_key, value}]), do: {:ok, value}
  defp found([]), do: :error
end
