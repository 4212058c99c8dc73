defprotocol BeamMCP.Encoder do
  @moduledoc """
  Turns a struct into a term that JSON can say.

  Dates and times become ISO 8601 strings. Other structs need an implementation of the host:

      defimpl BeamMCP.Encoder, for: MyApp.Money do
        def encode(money), do: %{amount: money.amount, currency: money.currency}
      end

  A struct without one is a fault of the host: the log names the struct, the caller reads
  "The tool failed.". Values that are no structs never come here; the native library encodes them.
  """

  @fallback_to_any true

  @doc """
  A term of maps, lists, strings, numbers, booleans, `nil` and further structs that stands for
  `struct`.

      iex> BeamMCP.Encoder.encode(~D[2026-07-28])
      "2026-07-28"
  """
  @spec encode(t()) :: term()
  def encode(struct)
end

defimpl BeamMCP.Encoder, for: [Date, Time, NaiveDateTime, DateTime] do
  def encode(value), do: @for.to_iso8601(value)
end

defimpl BeamMCP.Encoder, for: Any do
  def encode(%module{}) do
    raise ArgumentError, "#{inspect(module)} has no implementation of BeamMCP.Encoder"
  end
end
