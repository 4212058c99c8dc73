defmodule BeamMCP.Connectome.DeclaredTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Declared, Edge, Graph}
  alias BeamMCP.Fixture.Declared, as: Fixture
  alias BeamMCP.Fixture.Declared.{Alpha, Beta, Dyn, Gamma, MacroOnly, Tree}

  # Published for these modules and this catalog.
  @published "def0ff39da579901a64abc26abec472b906bae71b159b70d59175aa99f13edbe"

  @base [server: "fx", modules: Fixture.modules()]
  @full @base ++ [catalog: Fixture.Catalog, tool_modules: %{"echo" => Alpha}]

  defp build!(options) do
    {:ok, declared} = Declared.build(options)
    declared
  end

  defp edges(graph, kind), do: for(%{kind: ^kind} = edge <- graph.edges, do: {edge.from, edge.to})

  describe "a graph of modules and a catalog" do
    test "has the published digest" do
      assert Connectome.digest(build!(@full).graph) == {:ok, @published}
    end

    test "says what it cannot draw" do
      bound = build!(@full).bound

      assert bound.unresolved_calls == [
               {{Dyn, :apply_to, 2}, {Gamma, :"$F_EXPR", -1}},
               {{Dyn, :call, 2}, {:"$M_EXPR", :run, 1}},
               {{Dyn, :fun, 2}, {:"$M_EXPR", :"$F_EXPR", 1}}
             ]

      assert bound.macro_expansion_calls == [
               {{MacroOnly, :"MACRO-shouted", 2}, {Gamma, :shout, 1}}
             ]

      assert String in bound.external_callees
      refute Beta in bound.external_callees
      assert bound.unreadable_catalog_entries == [{:resources, "r://t/{id}"}]
      assert bound.tools_without_module == ["write"]
      assert bound.sources_used == [:catalog, :xref]
      assert bound.modules_without_beam == []
      assert bound.ungrouped_modules == []
    end

    test "takes a tool by its name as an atom or a string, and the function that runs it for its module" do
      defmodule Handled do
        def capabilities do
          tools = [
            %BeamMCP.ToolSpec{name: "mfa", handler: {Beta, :trim, []}},
            %BeamMCP.ToolSpec{name: "fun", handler: &Beta.trim/1},
            %BeamMCP.ToolSpec{name: :named},
            %BeamMCP.ToolSpec{name: :common}
          ]

          %{tools: tools, resources: [], prompts: []}
        end
      end

      declared =
        build!(
          @base ++ [catalog: Handled, tool_modules: %{named: Gamma}, dispatch: &Dyn.apply_to/2]
        )

      assert declared.bound.tools_without_module == []

      for {tool, module} <- [{"mfa", Beta}, {"fun", Beta}, {"named", Gamma}, {"common", Dyn}] do
        assert {"fx/tool/#{tool}", "fx/module/#{inspect(module)}"} in edges(
                 declared.graph,
                 :invoke
               )
      end
    end

    test "draws what is read on request" do
      declared = build!(@full ++ [read_edges: true])

      assert edges(declared.graph, :read) == [
               {"fx/server", "fx/prompt/greet"},
               {"fx/server", "fx/resource/r:%2F%2Fa"},
               {"fx/server", "fx/resource/r:%2F%2Ft%2F{id}"}
             ]

      assert declared.bound.unreadable_catalog_entries == []
    end
  end

  test "calls that the host vouches for are told apart" do
    bound = build!(@base ++ [dynamic_allowlist: [{Dyn, :fun, 2}]]).bound
    assert [{{Dyn, :fun, 2}, _target}] = bound.allowlisted_calls
    assert length(bound.unresolved_calls) == 2
  end

  describe "levels" do
    test ":mfa draws functions, local and calling themselves too" do
      graph = build!(@base ++ [level: :mfa]).graph
      alpha = "fx/module/#{inspect(Alpha)}"

      assert edges(graph, :invoke) == [
               {alpha <> "/again/1", alpha <> "/again/1"},
               {alpha <> "/run/1", alpha <> "/again/1"},
               {alpha <> "/run/1", "fx/module/#{inspect(Beta)}/trim/1"}
             ]

      assert length(graph.nodes) == 4
    end

    test ":boundary draws groups, by application unless a map says otherwise" do
      assert [%{id: "fx/boundary/application/beam_mcp"}, %{id: "fx/server"}] =
               build!(@base ++ [level: :boundary]).graph.nodes

      boundaries = %{Alpha => {:boundary_module, One}, Beta => {:application, :two}}
      declared = build!(@full ++ [level: :boundary, boundaries: boundaries])

      assert {"fx/boundary/boundary_module/One", "fx/boundary/application/two"} in edges(
               declared.graph,
               :invoke
             )

      assert {"fx/tool/echo", "fx/boundary/boundary_module/One"} in edges(
               declared.graph,
               :invoke
             )

      assert declared.bound.ungrouped_modules == Fixture.modules() -- [Alpha, Beta]
      assert declared.bound.sources_used == [:boundary_map, :catalog, :xref]
    end

    test "calls of modules in no group are listed" do
      boundaries = %{Alpha => {:application, :one}}
      bound = build!(@base ++ [level: :boundary, boundaries: boundaries]).bound
      assert bound.ungrouped_calls == [{{Alpha, :run, 1}, {Beta, :trim, 1}}]
    end
  end

  describe "supervisors" do
    test "are edges to whom they start, also through a supervisor without a module" do
      declared = build!(server: "fx", modules: [Tree, Beta, Gamma], supervisors: [Tree])
      tree = "fx/module/#{inspect(Tree)}"

      assert edges(declared.graph, :supervise) == [
               {tree, "fx/module/#{inspect(Beta)}"},
               {tree, "fx/module/#{inspect(Gamma)}"}
             ]

      assert declared.bound.external_children == [{Tree, Task.Supervisor}]
      assert declared.bound.sources_used == [:supervisors, :xref]
    end

    test "at :mfa are edges between functions" do
      graph =
        build!(server: "s", modules: [Tree, Beta], supervisors: [{Tree, :x}], level: :mfa).graph

      assert {"s/module/#{inspect(Tree)}/init/1", "s/module/#{inspect(Beta)}/start_link/0"} in edges(
               graph,
               :supervise
             )
    end

    test "that are none are refused" do
      assert {:error, {:invalid, :supervisors, {Beta, UndefinedFunctionError}}} =
               Declared.build(@base ++ [supervisors: [Beta]])
    end
  end

  describe "scope" do
    test "by applications takes the modules that they name" do
      declared = build!(server: "s", apps: [:beam_mcp])
      ids = MapSet.new(declared.graph.nodes, & &1.id)

      for module <- Application.spec(:beam_mcp, :modules) do
        assert "s/module/#{inspect(module)}" in ids
      end

      assert :application in declared.bound.sources_used
    end

    test "loses no call that xref knows" do
      modules = Application.spec(:beam_mcp, :modules)
      bound = build!(server: "s", modules: modules, level: :mfa).bound
      graph = build!(server: "s", modules: modules, level: :mfa).graph
      {:ok, xref} = :xref.start([])
      :xref.set_default(xref, warnings: false)

      for module <- modules -- bound.modules_without_beam do
        {^module, _binary, path} = :code.get_object_code(module)
        {:ok, ^module} = :xref.add_module(xref, path)
      end

      {:ok, unresolved} = :xref.q(xref, ~c"UC")
      assert Enum.sort(unresolved) == bound.unresolved_calls
      assert length(unresolved) > 50

      {:ok, known} = :xref.q(xref, ~c"E - UC")
      :xref.stop(xref)
      {macro, runtime} = Enum.split_with(known, &(&1 in bound.macro_expansion_calls))
      assert length(macro) == length(bound.macro_expansion_calls)

      {inside, outside} =
        Enum.split_with(runtime, fn {_, {module, _, _}} -> module in modules end)

      assert length(inside) == length(graph.edges)

      assert outside |> Enum.map(&elem(elem(&1, 1), 0)) |> Enum.uniq() |> Enum.sort() ==
               bound.external_callees
    end

    test "names modules without an object file" do
      defmodule InMemory do
        def f, do: 1
      end

      bound = build!(server: "s", modules: [InMemory, Beta, No.Such.Module]).bound
      assert bound.modules_without_beam == Enum.sort([InMemory, No.Such.Module])
    end

    test "names modules whose object file does not tell" do
      name = "connectome-#{System.unique_integer([:positive])}"
      directory = Path.join(System.tmp_dir!(), name)
      File.mkdir_p!(directory)
      source = Path.join(directory, "connectome_bare.erl")
      File.write!(source, "-module(connectome_bare).\n-export([f/0]).\nf() -> lists:seq(1, 2).\n")
      {:ok, :connectome_bare} = :compile.file(to_charlist(source), outdir: to_charlist(directory))
      :code.add_patha(to_charlist(directory))

      on_exit(fn ->
        :code.del_path(to_charlist(directory))
        File.rm_rf!(directory)
      end)

      declared = build!(server: "s", modules: [:connectome_bare])
      assert declared.bound.modules_without_debug_info == [:connectome_bare]
      assert Enum.map(declared.graph.nodes, & &1.id) == ["s/module/:connectome_bare", "s/server"]
    end
  end

  describe "refused is" do
    @refusals [
      {:no_list, {:invalid, :opts, :no_list}},
      {[], {:missing, :server}},
      {[server: "s"], {:missing, :scope}},
      {[server: "s", modules: [], apps: []], {:invalid, :scope, [:modules, :apps]}},
      {[server: :s, modules: []], {:invalid, :server, :s}},
      {[server: "s", modules: ["x"]], {:invalid, :modules, ["x"]}},
      {[server: "s", modules: [:a | :b]], {:invalid, :modules, [:a | :b]}},
      {[server: "s", apps: [:no_such_app]], {:unknown_app, :no_such_app}},
      {[server: "s", modules: [], sign: :deny], {:unknown_key, :sign}},
      {[server: "s", modules: [], level: :server], {:invalid, :level, :server}},
      {[server: "s", modules: [], boundaries: :reflect], {:unsupported, :boundaries, :reflect}},
      {[server: "s", modules: [], boundaries: %{A => :b}], {:invalid, :boundaries, %{A => :b}}},
      {[server: "s", modules: [], dispatch: {No, :such}], {:invalid, :dispatch, {No, :such}}},
      {[server: "s", modules: [], tool_modules: []], {:invalid, :tool_modules, []}},
      {[server: "s", modules: [], read_edges: nil], {:invalid, :read_edges, nil}},
      {[server: "s", modules: [], catalog: Enum], {:invalid, :catalog, :no_capabilities}},
      {[server: "s", modules: [], dynamic_allowlist: [{A, :b}]],
       {:invalid, :dynamic_allowlist, [{A, :b}]}},
      {[server: "s", modules: [], supervisors: ["x"]], {:invalid, :supervisors, ["x"]}}
    ]

    for {{options, refusal}, index} <- Enum.with_index(@refusals) do
      test "#{index}: #{inspect(refusal)}" do
        assert Declared.build(unquote(Macro.escape(options))) ==
                 {:error, unquote(Macro.escape(refusal))}
      end
    end

    test "a faulty catalog, with its faults" do
      defmodule Faulty do
        def capabilities,
          do: %{tools: [%BeamMCP.ToolSpec{name: "a b"}], resources: [], prompts: []}
      end

      assert {:error, {:invalid, :catalog, [%{definition: "a b"}]}} =
               Declared.build(server: "s", modules: [], catalog: Faulty)
    end
  end

  test "every edge is declared, without a weight and with the neutral sign" do
    %Graph{edges: edges} = build!(@full ++ [read_edges: true]).graph

    for edge <- edges,
        do: assert(%Edge{provenance: :declared, sign: :unset, weight: nil} = edge)
  end

  test "the bound as plain data names functions and says what is not known" do
    map = Declared.Bound.to_map(build!(@full).bound)
    assert Enum.sort(Map.keys(map)) == Enum.sort(Enum.map(Declared.Bound.fields(), &to_string/1))

    assert %{"from" => "BeamMCP.Fixture.Declared.Dyn.fun/2", "to" => "?.?/1"} in map[
             "unresolved_calls"
           ]

    assert map["unreadable_catalog_entries"] == [
             %{"list" => "resources", "entry" => "r://t/{id}"}
           ]
  end
end
