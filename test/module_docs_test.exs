defmodule BeamMCP.ModuleDocsTest do
  # What ExDoc would show, checked without it.
  use ExUnit.Case, async: true

  test "every module says what it is, or that it is internal" do
    assert Enum.filter(modules(), &(text(&1) == :none)) == []
  end

  test "every function and callback of a public module is documented" do
    bare =
      for module <- public(),
          {{kind, name, arity}, _line, _signature, :none, _metadata} <- entries(module),
          kind in [:function, :macro, :callback, :macrocallback],
          do: {module, name, arity}

    assert bare == []
  end

  test "every function of a public module has a spec, its own or that of a behaviour" do
    bare =
      for module <- public(),
          {{:function, name, arity}, _line, _signature, %{}, _metadata} <- entries(module),
          {name, arity} not in (specs(module) ++ callbacks(module)),
          do: {module, name, arity}

    assert bare == []
  end

  defp public, do: Enum.filter(modules(), &is_map(text(&1)))

  # The library's own: not the tests' support, and not what protocols generate.
  defp modules do
    for file <- Path.wildcard(Application.app_dir(:beam_mcp, "ebin/*.beam")),
        module = file |> Path.basename(".beam") |> String.to_atom(),
        Code.ensure_loaded?(module),
        source = to_string(module.module_info(:compile)[:source]),
        String.starts_with?(source, Path.expand("../lib", __DIR__)),
        not function_exported?(module, :__impl__, 1),
        do: module
  end

  defp text(module) do
    {:docs_v1, _line, :elixir, _format, text, _metadata, _entries} = Code.fetch_docs(module)
    text
  end

  defp entries(module) do
    {:docs_v1, _line, :elixir, _format, _text, _metadata, entries} = Code.fetch_docs(module)
    entries
  end

  defp specs(module) do
    {:ok, specs} = Code.Typespec.fetch_specs(module)
    Enum.map(specs, fn {function, _types} -> function end)
  end

  defp callbacks(module) do
    behaviours = Keyword.get_values(module.module_info(:attributes), :behaviour)
    behaviours |> List.flatten() |> Enum.flat_map(& &1.behaviour_info(:callbacks))
  end
end
