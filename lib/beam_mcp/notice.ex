defmodule BeamMCP.Notice do
  @moduledoc false
  # What a call tells its client before its answer, checked and ready for the native library.

  alias BeamMCP.Native

  @levels ~w(debug info notice warning error critical alert emergency)a

  # Bytes of one message's JSON: it waits in memory until the client reads it.
  @max_bytes 65_536

  # The methods that the protocol sends by itself.
  @own ~w(notifications/cancelled notifications/initialized notifications/message
          notifications/progress notifications/tasks/status notifications/elicitation/complete)

  @own_prefixes ~w(notifications/tools/ notifications/resources/ notifications/prompts/
                   notifications/roots/ notifications/subscriptions/)

  @spec progress(term(), term(), term()) :: Native.notice()
  def progress(progress, total, message) do
    check!(number?(progress), "progress must be a number that a client can read", progress)
    check!(total == nil or number?(total), "total must be a number or nil", total)
    check!(message == nil or text?(message), "message must be a UTF-8 string or nil", message)
    {:progress, progress, total, message && bounded!(message)}
  end

  @spec log(term(), term(), keyword()) :: Native.notice()
  def log(level, data, options) do
    [logger: logger] = Keyword.validate!(options, logger: nil)
    check!(level in @levels, "level must be one of #{inspect(@levels)}", level)
    check!(logger == nil or text?(logger), "logger must be a UTF-8 string", logger)
    {:log, Atom.to_string(level), logger && bounded!(logger), json!(data)}
  end

  @spec notification(term(), term()) :: Native.notice()
  def notification(method, params) do
    check!(text?(method) and method != "", "method must be a UTF-8 string", method)
    check!(not own?(method), "the protocol sends this method by itself", method)
    check!(params == nil or map?(params), "params must be a map or nil", params)
    {:notification, bounded!(method), params && json!(params)}
  end

  @spec elicitation_complete(term()) :: Native.notice()
  def elicitation_complete(id) do
    check!(text?(id), "the id of an elicitation must be a UTF-8 string", id)
    {:notification, "notifications/elicitation/complete", json!(%{elicitationId: id})}
  end

  defp own?(method) do
    method in @own or String.starts_with?(method, @own_prefixes) or
      not String.starts_with?(method, "notifications/")
  end

  # Integers as large as JSON readers keep exactly.
  defp number?(number) when is_integer(number), do: abs(number) < 9_007_199_254_740_992
  defp number?(number), do: is_float(number)

  defp text?(text), do: is_binary(text) and String.valid?(text)

  defp map?(params), do: is_map(params) and not is_struct(params)

  defp json!(value) do
    case Native.encode(value) do
      {:ok, json} -> bounded!(json)
      {:error, {_kind, text}} -> raise ArgumentError, "this cannot be sent to a client: #{text}"
    end
  end

  defp bounded!(text) do
    if byte_size(text) > @max_bytes do
      raise ArgumentError,
            "a message to a client has at most #{@max_bytes} bytes, this has #{byte_size(text)}"
    end

    text
  end

  defp check!(true, _rule, _value), do: :ok

  defp check!(false, rule, value) do
    raise ArgumentError, "#{rule}, got: #{inspect(value, limit: 5, printable_limit: 100)}"
  end
end
