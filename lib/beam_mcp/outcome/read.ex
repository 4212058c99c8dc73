defmodule BeamMCP.Outcome.Read do
  @moduledoc false
  # What the reader of a resource returned, as an answer for the native library. What it may return
  # stands in `BeamMCP.Catalog`.

  alias BeamMCP.{Kind, Outcome}
  alias BeamMCP.Result.{Resource, SafeError}

  @spec answer(term()) :: Outcome.answer()
  def answer({:ok, text}) when is_binary(text), do: contents([%{"text" => text}])
  def answer({:ok, %Resource{} = resource}), do: answer(resource)
  def answer({:ok, [_one | _more] = contents}), do: contents(contents)
  def answer({:ok, map}) when is_map(map) and not is_struct(map), do: contents([map])

  def answer(%Resource{} = resource) do
    {:contents, resource.contents, resource.meta, cache(resource)}
  end

  def answer({:error, :not_found}), do: :not_found
  def answer({:error, text}) when is_binary(text), do: {:safe_error, text, nil}
  def answer({:error, %SafeError{} = error}), do: Outcome.safe_error(error)
  def answer({:error, _reason}), do: :failed

  def answer(other) do
    raise ArgumentError,
          "expected {:ok, text}, {:ok, contents}, %BeamMCP.Result.Resource{} or {:error, reason} " <>
            "from the reader of a resource, got #{Kind.of(other)}"
  end

  defp contents(contents), do: {:contents, contents, nil, nil}

  defp cache(%{cache_ttl_ms: nil, cache_scope: nil}), do: nil
  defp cache(%{cache_ttl_ms: ttl_ms, cache_scope: scope}), do: {ttl_ms, scope}
end
