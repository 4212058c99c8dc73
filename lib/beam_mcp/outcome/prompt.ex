defmodule BeamMCP.Outcome.Prompt do
  @moduledoc false
  # What a prompt's handler returned, as an answer for the native library. What it may return
  # stands in `BeamMCP.Catalog`.

  alias BeamMCP.{Content, Kind, Outcome}
  alias BeamMCP.Result.{Prompt, SafeError}

  @spec answer(term()) :: Outcome.answer()
  def answer({:ok, text}) when is_binary(text),
    do: messages([Content.prompt_message(:user, text)])

  def answer({:ok, %Prompt{} = prompt}), do: answer(prompt)
  def answer({:ok, messages}) when is_list(messages), do: messages(messages)
  def answer({:ok, map}) when is_map(map) and not is_struct(map), do: messages([map])

  def answer(%Prompt{} = prompt),
    do: {:prompt, prompt.description, prompt.messages, prompt.meta}

  def answer({:error, text}) when is_binary(text), do: {:safe_error, text, nil}
  def answer({:error, %SafeError{} = error}), do: Outcome.safe_error(error)
  def answer({:error, _reason}), do: :failed

  def answer(other) do
    raise ArgumentError,
          "expected {:ok, text}, {:ok, messages}, %BeamMCP.Result.Prompt{} or {:error, reason} " <>
            "from the handler of a prompt, got #{Kind.of(other)}"
  end

  defp messages(messages), do: {:prompt, nil, messages, nil}
end
