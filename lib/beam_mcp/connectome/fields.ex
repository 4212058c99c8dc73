defmodule BeamMCP.Connectome.Fields do
  @moduledoc false
  # Checks that the constructors of the connectome share. The names of the refusals are stable.

  @type refusal :: {:unknown_key, term()} | {:missing, atom()} | {:invalid, atom(), term()}

  # Options are a keyword list with every required key and no other than those named.
  @spec check(term(), [atom()], [atom()]) :: :ok | {:error, refusal()}
  def check(options, required, optional) do
    with :ok <- that(Keyword.keyword?(options), :opts, options),
         :ok <- known(options, required ++ optional) do
      case Enum.find(required, &(not Keyword.has_key?(options, &1))) do
        nil -> :ok
        key -> {:error, {:missing, key}}
      end
    end
  end

  @spec member(atom(), term(), [term()]) :: :ok | {:error, refusal()}
  def member(field, value, allowed), do: that(value in allowed, field, value)

  @spec that(boolean(), atom(), term()) :: :ok | {:error, refusal()}
  def that(true, _field, _value), do: :ok
  def that(false, field, value), do: {:error, {:invalid, field, value}}

  @spec bang!({:ok, value} | {:error, term()}, String.t()) :: value when value: term()
  def bang!({:ok, value}, _what), do: value

  def bang!({:error, reason}, what),
    do: raise(ArgumentError, "the #{what} is refused: #{inspect(reason)}")

  defp known(options, keys) do
    case Enum.find(Keyword.keys(options), &(&1 not in keys)) do
      nil -> :ok
      key -> {:error, {:unknown_key, key}}
    end
  end
end
