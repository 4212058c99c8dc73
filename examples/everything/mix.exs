defmodule Everything.MixProject do
  use Mix.Project

  def project do
    [
      app: :everything,
      version: "0.1.0",
      elixir: "~> 1.14",
      deps: [{:beam_mcp, path: "../.."}]
    ]
  end

  def application do
    [mod: {Everything.Application, []}, extra_applications: [:logger]]
  end
end
