defmodule BeamMCP.Encoder.Walk do
  @moduledoc false
  # Encodes every struct inside a term. Runs only for terms in which the native library met one.

  @spec prepare(term()) :: term()
  def prepare(%_module{} = struct), do: struct |> BeamMCP.Encoder.encode() |> prepare()
  def prepare(map) when is_map(map), do: :maps.map(fn _key, value -> prepare(value) end, map)
  def prepare([head | tail]), do: [prepare(head) | prepare(tail)]
  def prepare(term), do: term
end
