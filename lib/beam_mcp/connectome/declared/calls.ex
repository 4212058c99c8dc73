defmodule BeamMCP.Connectome.Declared.Calls do
  @moduledoc false
  # The calls of the modules in scope, as OTP's cross-reference tool reads them out of their debug
  # information. Every call that it knows lands in exactly one field.
  #
  #     kept        both ends in scope
  #     external    the callee is outside
  #     macro       made by a macro's own body
  #     unresolved  the callee is not known before a run

  defstruct kept: [],
            external: [],
            macro: [],
            unresolved: [],
            without_beam: [],
            without_debug_info: []

  @type call :: {mfa(), mfa()}
  @type t :: %__MODULE__{
          kept: [call()],
          external: [call()],
          macro: [call()],
          unresolved: [call()],
          without_beam: [module()],
          without_debug_info: [module()]
        }

  @spec read([module()]) :: {:ok, t()} | {:error, {:unavailable, :xref}}
  def read(modules) do
    with {:ok, xref} <- xref(), do: {:ok, served(xref, &read({xref, &1}, modules))}
  end

  # Part of the application `:tools`, which a release may lack: found at run time.
  defp xref,
    do: if(Code.ensure_loaded?(:xref), do: {:ok, :xref}, else: {:error, {:unavailable, :xref}})

  defp served(xref, read) do
    {:ok, server} = xref.start(xref_mode: :functions)

    try do
      :ok = xref.set_default(server, warnings: false, verbose: false)
      read.(server)
    after
      xref.stop(server)
    end
  end

  defp read(server, modules) do
    unread = Enum.group_by(modules, &add(server, &1))
    scope = MapSet.new(modules)
    {macro, runtime} = Enum.split_with(query(server, ~c"E - UC"), &by_macro?/1)
    {kept, external} = Enum.split_with(runtime, &inside?(&1, scope))

    %__MODULE__{
      kept: kept,
      external: external,
      macro: macro,
      unresolved: query(server, ~c"UC"),
      without_beam: Map.get(unread, :without_beam, []),
      without_debug_info: Map.get(unread, :without_debug_info, [])
    }
  end

  # The object file, since a module that is loaded may not say where it came from.
  defp add({xref, server}, module) do
    with {^module, _binary, path} <- :code.get_object_code(module),
         {:ok, ^module} <- xref.add_module(server, path) do
      :read
    else
      :error -> :without_beam
      {:error, :xref_base, _unreadable} -> :without_debug_info
      {:error, :beam_lib, _unreadable} -> :without_debug_info
    end
  end

  defp query({xref, server}, text) do
    {:ok, calls} = xref.q(server, text)
    calls
  end

  # What defines a macro in the object code is a function of this name.
  defp by_macro?({{_module, function, _arity}, _callee}),
    do: function |> Atom.to_string() |> String.starts_with?("MACRO-")

  defp inside?({_caller, {module, _function, _arity}}, scope), do: module in scope
end
