defmodule BeamMCP.SingleUse do
  @moduledoc false
  # The option `single_use_state`: a client may send each round of what a handler asked once
  # (MCP 2026-07-28 basic/patterns/mrtr: sealing alone gives no such thing).

  alias BeamMCP.{Asking, Fault, Instance, Native, StagedStore}

  @doc """
  Marks the round that a question's client brings along as used. `:state_used` when it was, `:failed`
  when nobody can say.
  """
  @spec claim(Instance.t(), Native.question()) :: :ok | :state_used | :failed
  def claim(%{config: %{single_use_state: true}} = instance, question)
      when elem(question, 0) in [:call, :read, :get_prompt] do
    context = elem(question, tuple_size(question) - 1)

    case Asking.noted(context) do
      {note, expires_ms} -> claim(instance, note.mark, expires_ms)
      nil -> :ok
    end
  end

  def claim(_instance, _question), do: :ok

  defp claim(instance, mark, expires_ms) do
    case StagedStore.put(instance, mark, %{owner: nil, data: nil, expires_ms: expires_ms}) do
      :ok ->
        :ok

      {:error, :exists} ->
        :state_used

      {:error, reason} ->
        Fault.log_text("a round cannot be marked as used: the staged store is #{reason}")
        :failed
    end
  end
end
