defmodule BeamMCP.Scopes do
  @moduledoc """
  Scopes (RFC 6749 section 3.3), for handlers and hooks that decide by them.

  They are compared as they are: case counts, and neither `*` nor a prefix stands for anything. What
  stands for others says the option `implies` of an instance:

      iex> granted = BeamMCP.Scopes.parse("admin profile")
      iex> BeamMCP.Scopes.satisfied?(granted, ["notes.read"])
      false
      iex> granted = BeamMCP.Scopes.expand(granted, %{"admin" => ["notes.read"]})
      iex> BeamMCP.Scopes.satisfied?(granted, ["notes.read"])
      true

  `context.scopes` is what the caller was granted, not yet expanded; `nil` when nobody said.
  """

  @typedoc "Scopes, as a list of strings."
  @type scopes :: [String.t()]

  @doc "The scope that `tools/list` needs where an instance says nothing else."
  @spec tools_read() :: String.t()
  def tools_read, do: "mcp:tools:read"

  @doc "The scope that `tools/call` and tasks need where an instance says nothing else."
  @spec tools_call() :: String.t()
  def tools_call, do: "mcp:tools:call"

  @doc "The scope of the lists and contents of resources where an instance says nothing else."
  @spec resources_read() :: String.t()
  def resources_read, do: "mcp:resources:read"

  @doc "The scope of the list and texts of prompts where an instance says nothing else."
  @spec prompts_read() :: String.t()
  def prompts_read, do: "mcp:prompts:read"

  @doc "All four."
  @spec all() :: scopes()
  def all, do: [tools_read(), tools_call(), resources_read(), prompts_read()]

  @doc """
  The scopes of a text that separates them by spaces, each once.

      iex> BeamMCP.Scopes.parse("notes.read  notes.write notes.read")
      ["notes.read", "notes.write"]
  """
  @spec parse(String.t()) :: scopes()
  def parse(text), do: text |> String.split(" ", trim: true) |> Enum.uniq()

  @doc """
  Whether all of `required` were granted; always, when nobody said what was.

      iex> BeamMCP.Scopes.satisfied?(["a", "b"], ["b", "a"])
      true
      iex> BeamMCP.Scopes.satisfied?(["A"], ["a"])
      false
      iex> BeamMCP.Scopes.satisfied?(nil, ["a"])
      true
  """
  @spec satisfied?(scopes() | nil, scopes()) :: boolean()
  def satisfied?(granted, required), do: missing(granted, required) == []

  @doc """
  What of `required` was not granted, in its order.

      iex> BeamMCP.Scopes.missing(["a"], ["b", "a", "c"])
      ["b", "c"]
  """
  @spec missing(scopes() | nil, scopes()) :: scopes()
  def missing(nil, _required), do: []
  def missing(granted, required), do: Enum.reject(required, &(&1 in granted))

  @doc """
  What was granted with all that it stands for, by a map like the option `implies`.

      iex> BeamMCP.Scopes.expand(["root"], %{"root" => ["admin"], "admin" => ["read", "write"]})
      ["root", "admin", "read", "write"]
  """
  @spec expand(scopes() | nil, %{String.t() => scopes()}) :: scopes() | nil
  def expand(nil, _implies), do: nil
  def expand(granted, implies), do: expand(granted, implies, [])

  # Each scope once, so that a circle ends.
  defp expand([], _implies, seen), do: Enum.reverse(seen)

  defp expand([scope | rest], implies, seen) do
    if scope in seen,
      do: expand(rest, implies, seen),
      else: expand(rest ++ Map.get(implies, scope, []), implies, [scope | seen])
  end

  @doc false
  # What a client may do whom nobody restricts: all that methods need.
  @spec of_methods(BeamMCP.Config.t()) :: scopes()
  def of_methods(config) do
    mapped = for {_method, scopes} <- config.scope_map, scope <- scopes, do: scope
    Enum.uniq(all() ++ mapped ++ config.default_scopes ++ config.subscription_scopes)
  end
end
