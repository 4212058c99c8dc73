defmodule BeamMCP.Integration.ConnectomeAppsTest do
  # The declared graph of hundreds of modules in Erlang and Elixir, which stand for a large
  # application, against what OTP's cross-reference tool says of them when it is asked otherwise.
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.Declared

  @moduletag :integration
  @moduletag timeout: 300_000

  @apps [:elixir, :ex_unit, :inets, :kernel, :logger, :mix, :mnesia, :ssl, :stdlib]

  setup_all do
    # Elixir 1.15 and later leave out of the path what no application names.
    if function_exported?(Mix, :ensure_application!, 1),
      do: Enum.each(@apps, &apply(Mix, :ensure_application!, [&1]))

    Enum.each(@apps, &Application.load/1)
    modules = Enum.flat_map(@apps, &Application.spec(&1, :modules))
    %{modules: MapSet.new(modules), calls: calls(modules)}
  end

  test "every call is an edge, or in the bound", %{modules: modules, calls: calls} do
    {:ok, %{graph: graph, bound: bound}} = Declared.build(server: "s", apps: @apps, level: :mfa)
    {unresolved, known} = Enum.split_with(calls, &unresolved?/1)
    assert Enum.sort(unresolved) == bound.unresolved_calls

    {macro, runtime} = Enum.split_with(known, &by_macro?/1)
    assert Enum.sort(macro) == bound.macro_expansion_calls

    {inside, outside} = Enum.split_with(runtime, fn {_from, {to, _, _}} -> to in modules end)
    assert length(inside) == length(graph.edges)
    assert length(inside) > 20_000
    callees = for {_from, {module, _, _}} <- outside, uniq: true, do: module
    assert Enum.sort(callees) == bound.external_callees
  end

  test "modules call each other where their functions do", %{modules: modules, calls: calls} do
    {:ok, %{graph: graph}} = Declared.build(server: "s", apps: @apps)

    pairs =
      for {{from, _, _}, {to, _, _}} = call <- calls,
          not unresolved?(call) and not by_macro?(call),
          from != to and to in modules,
          uniq: true,
          do: {"s/module/#{inspect(from)}", "s/module/#{inspect(to)}"}

    assert Enum.sort(pairs) == for(edge <- graph.edges, do: {edge.from, edge.to})
    assert length(graph.nodes) == MapSet.size(modules) + 1
    {:ok, digest} = Connectome.digest(graph)
    assert {:ok, %{digest: ^digest}} = graph |> Connectome.encode!() |> Connectome.verify()
  end

  # Each module's calls, external and local, as they stand in its own object code.
  defp calls(modules) do
    {:ok, xref} = :xref.start(xref_mode: :functions)
    :xref.set_default(xref, warnings: false)

    for module <- modules,
        {^module, _binary, path} <- [:code.get_object_code(module)],
        do: {:ok, ^module} = :xref.add_module(xref, path)

    {:ok, external} = :xref.q(xref, ~c"XC")
    {:ok, local} = :xref.q(xref, ~c"LC")
    :xref.stop(xref)
    Enum.uniq(external ++ local)
  end

  defp unresolved?({_from, {module, function, arity}}),
    do: module == :"$M_EXPR" or function == :"$F_EXPR" or arity == -1

  defp by_macro?({{_module, function, _arity}, _to}),
    do: function |> Atom.to_string() |> String.starts_with?("MACRO-")
end
