defmodule BeamMCP.Outcome.Completion do
  @moduledoc false
  # What completed an argument, as an answer for the native library. What may be returned stands in
  # `BeamMCP.Catalog`.

  alias BeamMCP.{Kind, Outcome}
  alias BeamMCP.Result.{Completion, SafeError}

  @spec answer(term()) :: Outcome.answer()
  def answer({:ok, values}) when is_list(values), do: {:completion, values, nil, nil}
  def answer({:ok, %Completion{} = completion}), do: answer(completion)

  def answer(%Completion{} = completion),
    do: {:completion, completion.values, completion.total, completion.has_more}

  def answer({:error, text}) when is_binary(text), do: {:safe_error, text, nil}
  def answer({:error, %SafeError{} = error}), do: Outcome.safe_error(error)
  def answer({:error, _reason}), do: :failed

  def answer(other) do
    raise ArgumentError,
          "expected {:ok, values}, %BeamMCP.Result.Completion{} or {:error, reason} from the " <>
            "handler of a completion, got #{Kind.of(other)}"
  end
end
