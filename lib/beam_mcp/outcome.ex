defmodule BeamMCP.Outcome do
  @moduledoc false
  # What a tool's handler returned, as an answer for the native library. What it may return stands
  # in `BeamMCP`; everything else raises and so becomes a host fault. The folder has the other kinds.

  alias BeamMCP.Encoder.Walk
  alias BeamMCP.{Kind, Result}
  alias BeamMCP.Result.SafeError

  @type answer ::
          {:text, binary()}
          | {:structured, term()}
          | {:result, [map()], :none | {:some, term()}, boolean(), map() | nil}
          | {:error_text, binary()}
          | {:contents, [map()], map() | nil, nil | {non_neg_integer() | nil, atom()}}
          | {:prompt, binary() | nil, [map()], map() | nil}
          | {:completion, [binary()], non_neg_integer() | nil, boolean() | nil}
          | {:safe_error, binary(), term()}
          | {:asked, String.t()}
          | :not_found
          | :failed

  @spec answer(term()) :: answer()
  def answer({:ok, text}) when is_binary(text), do: {:text, text}
  def answer({:ok, %Result{} = result}), do: result(result)
  def answer({:ok, %_struct{} = value}), do: value(Walk.prepare(value))
  def answer({:ok, value}), do: value(value)
  def answer(%Result{} = result), do: result(result)
  def answer({:error, text}) when is_binary(text), do: {:error_text, text}
  def answer({:error, %Result{} = result}), do: result(%{result | error?: true})
  def answer({:error, %SafeError{} = error}), do: safe_error(error)
  def answer({:error, _reason}), do: :failed

  def answer(other) do
    raise ArgumentError,
          "expected {:ok, value}, {:error, reason} or %BeamMCP.Result{} from the dispatch function, " <>
            "got #{Kind.of(other)}"
  end

  @doc "A failure whose text the caller may read."
  @spec safe_error(SafeError.t()) :: answer()
  def safe_error(%SafeError{message: message, data: data}), do: {:safe_error, message, data}

  @doc "The answer with every struct in it encoded."
  @spec prepare(answer()) :: answer()
  def prepare({:structured, value}), do: {:structured, Walk.prepare(value)}

  def prepare({:result, content, structured, error?, meta}) do
    {:result, Walk.prepare(content), prepare_structured(structured), error?, Walk.prepare(meta)}
  end

  def prepare({:contents, contents, meta, cache}),
    do: {:contents, Walk.prepare(contents), Walk.prepare(meta), cache}

  def prepare({:prompt, description, messages, meta}),
    do: {:prompt, description, Walk.prepare(messages), Walk.prepare(meta)}

  def prepare({:safe_error, message, data}), do: {:safe_error, message, Walk.prepare(data)}
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
end
