defmodule BeamMCP.Options.Type do
  @moduledoc false
  # What a value of an option may be: checks it, normalises it, says it in words.

  @type t ::
          :term
          | :boolean
          | :string
          | {:optional, t()}
          | {:integer, integer(), integer()}
          | {:one_of, [atom()]}
          | {:custom, (term() -> {:ok, term()} | refusal()), String.t()}

  @typedoc "`{:error, entry}` of a list or map with an entry that is wrong."
  @type refusal :: :error | {:error, entry :: term()}

  @spec cast(t(), term()) :: {:ok, term()} | refusal()
  def cast(:term, value), do: {:ok, value}
  def cast(:boolean, value) when is_boolean(value), do: {:ok, value}

  def cast(:string, value) when is_binary(value),
    do: if(String.valid?(value), do: {:ok, value}, else: :error)

  def cast({:optional, _type}, nil), do: {:ok, nil}
  def cast({:optional, type}, value), do: cast(type, value)

  def cast({:integer, min, max}, value) when is_integer(value) and value >= min and value <= max,
    do: {:ok, value}

  def cast({:one_of, atoms}, value) when is_atom(value),
    do: if(value in atoms, do: {:ok, value}, else: :error)

  def cast({:custom, check, _legal}, value), do: check.(value)
  def cast(_type, _value), do: :error

  @spec legal(t()) :: String.t()
  def legal(:term), do: "any term"
  def legal(:boolean), do: "`true` or `false`"
  def legal(:string), do: "a UTF-8 string"
  def legal({:optional, type}), do: legal(type) <> ", or `nil`"
  def legal({:integer, min, max}), do: "an integer from #{grouped(min)} to #{grouped(max)}"
  def legal({:one_of, atoms}), do: Enum.map_join(atoms, ", ", &"`#{inspect(&1)}`")
  def legal({:custom, _check, legal}), do: legal

  defp grouped(integer) do
    integer
    |> Integer.to_string()
    |> String.reverse()
    |> String.replace(~r/(\d{3})(?=\d)/, "\\1,")
    |> String.reverse()
  end
end
