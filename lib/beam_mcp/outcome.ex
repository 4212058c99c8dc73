defmodule BeamMCP.Outcome do
  @moduledoc false
  # What a dispatch function returned, as an answer for the native library. What it may return
  # stands in `BeamMCP`; everything else raises and so becomes a host fault.

  alias BeamMCP.Encoder.Walk
  alias BeamMCP.Result

  @type answer ::
          {:text, binary()}
          | {:structured, term()}
          | {:result, [map()], :none | {:some, term()}, boolean(), map() | nil}
          | {:error_text, binary()}
          | :failed

  @spec answer(term()) :: answer()
  def answer({:ok, text}) when is_binary(text), do: {:text, text}
  def answer({:ok, %Result{} = result}), do: result(result)
  def answer({:ok, %_struct{} = value}), do: value(Walk.prepare(value))
  def answer({:ok, value}), do: value(value)
  def answer(%Result{} = result), do: result(result)
  def answer({:error, text}) when is_binary(text), do: {:error_text, text}
  def answer({:error, %Result{} = result}), do: result(%{result | error?: true})
  def answer({:error, _reason}), do: :failed

  def answer(other) do
    raise ArgumentError,
          "expected {:ok, value}, {:error, reason} or %BeamMCP.Result{} from the dispatch function, " <>
            "got #{shape(other)}"
  end

  @doc "The answer with every struct in it encoded."
  @spec prepare(answer()) :: answer()
  def prepare({:structured, value}), do: {:structured, Walk.prepare(value)}

  def prepare({:result, content, structured, error?, meta}) do
    {:result, Walk.prepare(content), prepare_structured(structured), error?, Walk.prepare(meta)}
  end

  def prepare(answer), do: answer

  defp value(text) when is_binary(text), do: {:text, text}
  defp value(literal) when literal in [true, false, nil], do: {:structured, literal}
  defp value(atom) when is_atom(atom), do: {:text, Atom.to_string(atom)}
  defp value(value), do: {:structured, value}

  defp result(%Result{} = result) do
    {:result, result.content, structured(result.structured_content), result.error?, result.meta}
  end

  defp structured(:none), do: :none
  defp structured(value), do: {:some, value}

  defp prepare_structured(:none), do: :none
  defp prepare_structured({:some, value}), do: {:some, Walk.prepare(value)}

  # The kind of term only: it may be a result.
  defp shape(tuple) when is_tuple(tuple), do: "a tuple of #{tuple_size(tuple)}"
  defp shape(%module{}), do: "a #{inspect(module)} struct"
  defp shape(map) when is_map(map), do: "a map"
  defp shape(list) when is_list(list), do: "a list"
  defp shape(text) when is_binary(text), do: "a binary"
  defp shape(atom) when is_atom(atom), do: inspect(atom)
  defp shape(_other), do: "another term"
end
