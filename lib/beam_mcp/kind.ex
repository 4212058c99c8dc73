defmodule BeamMCP.Kind do
  @moduledoc false
  # What kind of term something is, for messages about terms that may be arguments or results.

  @spec of(term()) :: String.t()
  def of(tuple) when is_tuple(tuple), do: "a tuple of #{tuple_size(tuple)}"
  def of(%module{}), do: "a #{inspect(module)} struct"
  def of(map) when is_map(map), do: "a map"
  def of(list) when is_list(list), do: "a list"
  def of(text) when is_binary(text), do: "a binary"
  def of(atom) when is_atom(atom), do: inspect(atom)
  def of(_other), do: "another term"
end
