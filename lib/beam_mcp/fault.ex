defmodule BeamMCP.Fault do
  @moduledoc false
  # Writes faults of the host to the log: what happened, where, in which tool. Arguments and
  # results stay out: stack traces carry arities, and a term inside an exception or an exit reason
  # is shown by its kind.

  require Logger

  @shown_elements 8

  @doc "How the log names what the host offers; `{kind, name as declared}`."
  @spec place({atom(), term()}) :: String.t()
  def place({kind, name}), do: "#{kind} #{inspect(name)}"

  @doc "Something that was raised, thrown or exited with, caught in the call's process."
  @spec log(:error | :exit | :throw, term(), Exception.stacktrace(), String.t()) :: :ok
  def log(kind, reason, stacktrace, place) do
    log_text("#{place} failed: #{describe(kind, reason, stacktrace)}\n#{trace(stacktrace)}")
  end

  @doc "A fault in the author's own words."
  @spec log_text(String.t()) :: :ok
  def log_text(text), do: Logger.error("[BeamMCP] " <> text)

  @doc "A handler's own failure, with a reason that its caller does not read."
  @spec log_reason(String.t(), term()) :: :ok
  def log_reason(place, {:error, reason}) do
    Logger.warning(
      "[BeamMCP] #{place} returned {:error, #{inner(reason)}}, of which its caller learns nothing; " <>
        "a text in its place would be shown"
    )
  end

  @doc "A peer that was refused by an option that whoever runs the server may want to change."
  @spec log_refusal(String.t()) :: :ok
  def log_refusal(text), do: Logger.warning("[BeamMCP] " <> text)

  @doc "What happened in one line."
  @spec describe(:error | :exit | :throw, term(), Exception.stacktrace()) :: String.t()
  def describe(:error, reason, stacktrace) do
    case Exception.normalize(:error, reason, stacktrace) do
      %ErlangError{original: original} -> "ErlangError: " <> show(original)
      %module{} = exception -> inspect(module) <> message(exception)
    end
  end

  def describe(:exit, reason, _stacktrace), do: "exit " <> show(reason)
  def describe(:throw, value, _stacktrace), do: "throw " <> show(value)

  @doc "A reason: text of the author's own is kept, terms inside of it are shown by their kind."
  @spec show(term()) :: String.t()
  def show(text) when is_binary(text), do: inspect(text, printable_limit: 500)
  def show(reason), do: inner(reason)

  # Exceptions with one of these fields put it into their message, and it is an argument more often
  # than not: MatchError, KeyError, Protocol.UndefinedError, BadArityError and the like.
  defp message(%{term: _term}), do: ""
  defp message(%{value: _value}), do: ""
  defp message(%{args: _arguments}), do: ""
  defp message(exception), do: ": " <> Exception.message(exception)

  defp trace(stacktrace) do
    stacktrace |> Enum.map(&without_arguments/1) |> Exception.format_stacktrace()
  end

  defp without_arguments({module, function, arguments, location}) when is_list(arguments) do
    {module, function, length(arguments), location}
  end

  defp without_arguments({fun, arguments, location}) when is_list(arguments) do
    {fun, length(arguments), location}
  end

  defp without_arguments(entry), do: entry

  defp inner(atom) when is_atom(atom), do: inspect(atom)
  defp inner(number) when is_number(number), do: inspect(number)

  defp inner({module, function, arguments})
       when is_atom(module) and is_atom(function) and is_list(arguments) do
    Exception.format_mfa(module, function, length(arguments))
  end

  defp inner(%module{} = exception) when is_exception(exception), do: inspect(module)
  defp inner(%module{}), do: "%#{inspect(module)}{}"

  defp inner(tuple) when tuple_size(tuple) > @shown_elements,
    do: "a tuple of #{tuple_size(tuple)}"

  defp inner(tuple) when is_tuple(tuple),
    do: "{" <> (tuple |> Tuple.to_list() |> Enum.map_join(", ", &element/1)) <> "}"

  defp inner(text) when is_binary(text), do: "<<#{byte_size(text)} bytes>>"
  defp inner(list) when is_list(list), do: "[..]"
  defp inner(map) when is_map(map), do: "%{..}"
  defp inner(other), do: inspect(other)

  # One level of a tuple is enough, so that a large reason costs little.
  defp element({module, function, arguments} = mfa)
       when is_atom(module) and is_atom(function) and is_list(arguments),
       do: inner(mfa)

  defp element(tuple) when is_tuple(tuple), do: "{..}"
  defp element(other), do: inner(other)
end
