defmodule BeamMCP.Connectome.Part do
  @moduledoc false
  # Nodes and edges as both builders make them: the kind and level of a node follow from its
  # identity, the sign is the neutral one.

  alias BeamMCP.Connectome.{Edge, Node}

  @spec node(Node.identity(), map()) :: Node.t()
  def node(identity, labels \\ %{}) do
    {kind, level} = shape(identity)
    Node.new!(kind: kind, level: level, identity: identity, labels: labels)
  end

  @spec edge(Node.identity(), Node.identity(), Edge.kind(), Edge.provenance()) :: Edge.t()
  def edge(from, to, kind, provenance) do
    Edge.new!(from: Node.id(from), to: Node.id(to), kind: kind, provenance: provenance)
  end

  defp shape({:module, _server, {_module, _function, _arity}}), do: {:module, :mfa}
  defp shape({:module, _server, _module}), do: {:module, :module}
  defp shape({:boundary, _server, _source, _name}), do: {:module, :boundary}
  defp shape(named), do: {elem(named, 0), :server}
end
