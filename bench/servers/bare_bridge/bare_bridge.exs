# The BEAM side of the bare bridge: a dispatcher that spawns one process per call.

defmodule BareBridge do
  @on_load :load

  def load do
    "BARE_BRIDGE_NIF" |> System.fetch_env!() |> String.to_charlist() |> :erlang.load_nif(0)
  end

  def start(_port, _dispatcher), do: :erlang.nif_error(:not_loaded)
  def reply(_token, _text), do: :erlang.nif_error(:not_loaded)

  def dispatch do
    receive do
      {:call, token, name, arguments} -> spawn(__MODULE__, :run, [token, name, arguments])
    end

    dispatch()
  end

  def run(token, "echo", %{"text" => text}), do: reply(token, text)
end

port = "PORT" |> System.fetch_env!() |> String.to_integer()
:ok = BareBridge.start(port, self())
IO.puts("READY #{port}")
BareBridge.dispatch()
