defmodule BeamMCP.Staging do
  @moduledoc false
  # Data of a handler that waits for a page to take it (MCP 2026-07-28 client/elicitation, "URL Mode").

  alias BeamMCP.{Asking, Context, Instance, StagedStore}

  @ttl_ms 900_000

  @spec stage(Context.t(), term(), term(), keyword()) ::
          {:open, String.t()} | :taken | {:error, :full | :unavailable | :unknown}
  def stage(context, key, data, options) do
    [ttl_ms: ttl_ms] = Keyword.validate!(options, ttl_ms: @ttl_ms)
    id = id(Asking.thread(context), key)
    expires_ms = System.system_time(:millisecond) + ttl_ms
    entry = %{owner: context.principal, data: data, expires_ms: expires_ms}

    with {:ok, instance} <- instance(context),
         {:error, :exists} <- StagedStore.put(instance, id, entry) do
      found(StagedStore.fetch(instance, id), id)
    else
      :ok -> {:open, id}
      {:error, reason} -> {:error, reason}
    end
  end

  @spec take(Instance.t(), String.t(), term()) ::
          {:ok, term()} | {:error, :unknown | :unavailable}
  def take(instance, id, principal), do: StagedStore.take(instance, id, principal)

  defp found({:ok, _entry, :open}, id), do: {:open, id}
  defp found({:ok, _entry, :taken}, _id), do: :taken
  defp found({:error, reason}, _id), do: {:error, reason}

  # Nobody guesses the thread, and the id does not tell it.
  defp id(thread, key) do
    :sha256
    |> :crypto.hash([thread, :erlang.term_to_binary(key)])
    |> Base.url_encode64(padding: false)
  end

  defp instance(context) do
    with {:error, _stopped} <- Instance.fetch(context.instance), do: {:error, :unavailable}
  end
end
