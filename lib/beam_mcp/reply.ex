defmodule BeamMCP.Reply do
  @moduledoc false
  # The answer of a call: by its token, or through the process that holds it.

  alias BeamMCP.{Native, Parked}

  @type to :: Native.token() | Parked.call()

  @doc "As `Native.reply/2`."
  @spec send(to(), term()) :: :ok | :late | {:error, Native.reason()}
  def send({:parked, _handler} = parked, answer), do: Parked.reply(parked, answer)
  def send(token, answer), do: Native.reply(token, answer)
end
