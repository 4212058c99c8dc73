defmodule BeamMCP.Test.Answer do
  @moduledoc false
  # What a client answers when a handler asks it, as it stands on the wire.

  alias BeamMCP.Kind

  @typedoc "The function of `BeamMCP.Test.answer_with/2`."
  @type fun :: (String.t(), map() -> BeamMCP.Test.told())

  @doc "What a retry has beside the parameters of the request (MCP 2026-07-28 basic/patterns/mrtr)."
  @spec retry(map(), fun()) :: map()
  def retry(result, answer) do
    responses =
      for {key, request} <- result["inputRequests"] || %{},
          {:ok, response} <- [read(answer.(request["method"], request["params"] || %{}))],
          into: %{},
          do: {key, response}

    state = if state = result["requestState"], do: %{requestState: state}, else: %{}
    Map.put(state, :inputResponses, responses)
  end

  @doc "The response to a request of the server's, without its id."
  @spec response(fun() | nil, String.t(), map()) :: map()
  def response(nil, method, _params),
    do: %{error: %{code: -32_601, message: "Method not found: #{method}"}}

  def response(answer, method, params) do
    case read(answer.(method, params)) do
      {:ok, result} -> %{result: result}
      {:error, {code, message}} -> %{error: %{code: code, message: message}}
    end
  end

  defp read({:accept, content}) when is_map(content),
    do: {:ok, %{action: "accept", content: content}}

  defp read(action) when action in [:accept, :decline, :cancel],
    do: {:ok, %{action: Atom.to_string(action)}}

  defp read({:ok, result}) when is_map(result), do: {:ok, result}

  defp read({:error, {code, message}} = error) when is_integer(code) and is_binary(message),
    do: error

  defp read(other) do
    raise ArgumentError,
          "expected {:accept, content}, :accept, :decline, :cancel, {:ok, result} or " <>
            "{:error, {code, message}} as the answer of a client, got #{Kind.of(other)}"
  end
end
