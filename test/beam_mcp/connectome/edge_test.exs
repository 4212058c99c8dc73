defmodule BeamMCP.Connectome.EdgeTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome.Edge

  @good [from: "s/a", to: "s/b", kind: :invoke, provenance: :declared]

  test "an edge has the neutral sign and no weight unless one is given" do
    assert {:ok, %Edge{sign: :unset, weight: nil} = edge} = Edge.new(@good)
    assert Edge.key(edge) == {"s/a", "s/b", :invoke, :declared}

    for weight <- [0, 7, 0.5, -0.0],
        do: assert(Edge.new!([weight: weight] ++ @good).weight == weight)
  end

  test "what is wrong is refused by name, the first found" do
    for {options, refusal} <- [
          {nil, {:invalid, :opts, nil}},
          {[sign: :unset] ++ @good, {:unknown_key, :sign}},
          {Keyword.delete(@good, :provenance), {:missing, :provenance}},
          {Keyword.put(@good, :from, :a), {:invalid, :from, :a}},
          {Keyword.put(@good, :to, ~c"b"), {:invalid, :to, ~c"b"}},
          {Keyword.put(@good, :kind, :call), {:invalid, :kind, :call}},
          {Keyword.put(@good, :provenance, :both), {:invalid, :provenance, :both}},
          {Keyword.put(@good, :weight, -1), {:invalid, :weight, -1}},
          {Keyword.put(@good, :weight, "1"), {:invalid, :weight, "1"}}
        ] do
      assert Edge.new(options) == {:error, refusal}
    end

    assert_raise ArgumentError, ~r/the edge is refused/, fn -> Edge.new!([]) end
  end
end
