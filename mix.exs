Code.require_file("native/mix_compiler.exs", __DIR__)

defmodule BeamMCP.MixProject do
  use Mix.Project

  @version "0.1.0"

  def project do
    [
      app: :beam_mcp,
      version: @version,
      elixir: "~> 1.14",
      name: "BeamMCP",
      description: "An MCP server framework for the BEAM with a Rust core.",
      compilers: [:beam_mcp_native] ++ Mix.compilers(),
      elixirc_paths: elixirc_paths(Mix.env()),
      start_permanent: Mix.env() == :prod,
      # Coverage reloads every module, and a reloaded NIF stub loses its library.
      test_coverage: [ignore_modules: [BeamMCP.NIF]],
      test_ignore_filters: [&String.starts_with?(&1, "test/integration/support/")],
      deps: [],
      package: package(),
      docs: [main: "readme", extras: ["README.md" | documents()]]
    ]
  end

  def application do
    [
      mod: {BeamMCP.Application, []},
      extra_applications: [:logger, :crypto] ++ test_applications(Mix.env())
    ]
  end

  # TLS is native; clients and issuers of the tests speak that of OTP.
  defp test_applications(:test), do: [:public_key, :ssl]
  defp test_applications(_env), do: []

  defp elixirc_paths(:test), do: ["lib", "test/support"]
  defp elixirc_paths(_env), do: ["lib"]

  defp package do
    [
      licenses: ["Apache-2.0"],
      files:
        ~w(lib native Cargo.toml Cargo.lock mix.exs .formatter.exs README.md LICENSE) ++
          documents()
    ]
  end

  defp documents, do: ~w(CHANGELOG.md SECURITY.md) ++ Path.wildcard("docs/**/*.md")
end
