defmodule BeamMCP.Encoder.Walk do
  @moduledoc false
  # Encodes every struct inside a term. Runs only for terms in which the native library met one.

  # As deep as the native library writes; an encoder that returns its own struct ends here.
  @max_depth 256

  @spec prepare(term()) :: term()
  def prepare(term), do: prepare(term, @max_depth)

  defp prepare(_term, 0) do
    raise ArgumentError,
          "a value is nested more than #{@max_depth} levels deep once it is encoded"
  end

  defp prepare(%_module{} = struct, left),
    do: struct |> BeamMCP.Encoder.encode() |> prepare(left - 1)

  defp prepare(map, left) when is_map(map),
    do: :maps.map(fn _key, value -> prepare(value, left - 1) end, map)

  defp prepare(list, left) when is_list(list), do: items(list, left - 1)
  defp prepare(term, _left), do: term

  defp items([head | tail], left), do: [prepare(head, left) | items(tail, left)]
  defp items([], _left), do: []
  defp items(improper_tail, left), do: prepare(improper_tail, left)
end
