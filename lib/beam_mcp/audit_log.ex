defmodule BeamMCP.AuditLog do
  @moduledoc """
  Decisions over callers as lines of the log, for the option `audit`:

      {BeamMCP, audit: &BeamMCP.AuditLog.log/1, ..}

  A line says what was decided, and then what is known of it:

      [BeamMCP] deny operation reason=insufficient_scope method=tools/call principal=5f0c1a7e \
  client=09b4d2ce issuer=https://auth.example.com binding=bearer wanted="mcp:tools:call" \
  missing="mcp:tools:call" held=1 denial=challenge instance=MyApp.MCP

  Permitted are told at the level `:info`, denied at `:notice`; `audit: {BeamMCP.AuditLog, :log,
  [:debug]}` tells all at another one.
  """

  alias BeamMCP.Decision

  require Logger

  @keys ~w(reason method definition principal client issuer binding wanted missing held denial
           duration_us instance)a

  @doc "Writes one line."
  @spec log(Decision.t()) :: :ok
  def log(%Decision{outcome: outcome} = decision),
    do: log(decision, if(outcome == :permit, do: :info, else: :notice))

  @doc "Writes one line at a level."
  @spec log(Decision.t(), Logger.level()) :: :ok
  def log(%Decision{} = decision, level) do
    Logger.log(level, fn -> "[BeamMCP] " <> line(decision) end)
  end

  @doc """
  The text of a line.

      iex> BeamMCP.AuditLog.line(%BeamMCP.Decision{
      ...>   instance: MyApp.MCP, stage: :sender, outcome: :deny, reason: "expired", at_ms: 0
      ...> })
      "deny sender reason=expired instance=MyApp.MCP"
  """
  @spec line(Decision.t()) :: String.t()
  def line(%Decision{} = decision) do
    pairs =
      for key <- @keys,
          value = Map.fetch!(decision, key),
          value != [],
          do: "#{key}=#{text(key, value)}"

    Enum.join([decision.outcome, decision.stage | pairs], " ")
  end

  # Nothing but what is visible in one line: names may have been declared in any letters.
  defp text(:instance, name), do: inspect(name)
  defp text(_key, scopes) when is_list(scopes), do: inspect(Enum.join(scopes, " "))

  defp text(_key, value) do
    text = to_string(value)
    if text =~ ~r/\A[!#-~]+\z/, do: text, else: inspect(text)
  end
end
