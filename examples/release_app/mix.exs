defmodule ReleaseApp.MixProject do
  use Mix.Project

  def project do
    [
      app: :release_app,
      version: "0.1.0",
      elixir: "~> 1.14",
      deps: [{:beam_mcp, path: "../.."}],
      releases: [release_app: [include_executables_for: [:unix]]]
    ]
  end

  def application do
    [mod: {ReleaseApp.Application, []}, extra_applications: [:logger]]
  end
end
