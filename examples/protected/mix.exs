defmodule Protected.MixProject do
  use Mix.Project

  def project do
    [
      app: :protected,
      version: "0.1.0",
      elixir: "~> 1.14",
      deps: [{:beam_mcp, path: "../.."}]
    ]
  end

  def application do
    [
      mod: {Protected.Application, []},
      extra_applications: [:logger, :crypto, :public_key, :ssl]
    ]
  end
end
