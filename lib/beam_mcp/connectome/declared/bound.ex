defmodule BeamMCP.Connectome.Declared.Bound do
  @moduledoc """
  What a declared graph does not say: everything that its builder met and could not, or may not,
  draw. Each field is a sorted list; nothing is summed up in a number.

  | field | entries |
  |---|---|
  | `unresolved_calls` | `{caller, target}` for each call whose target only a run decides; in the target `:"$M_EXPR"` and `:"$F_EXPR"` stand for what is not known, the arity -1 for arguments that are not |
  | `allowlisted_calls` | the same, where the host vouches for the caller (`dynamic_allowlist`) |
  | `macro_expansion_calls` | `{caller, callee}` for what a macro's own body calls: while others compile, never at run time |
  | `external_callees` | modules outside the scope that are called from inside |
  | `external_children` | `{supervisor, module}` for children whose module is outside the scope |
  | `modules_without_beam` | modules of the scope of which there is no object file |
  | `modules_without_debug_info` | modules of the scope whose object file does not say what they call |
  | `unreadable_catalog_entries` | `{list, entry}` for what has no one name: a resource template, unless `read_edges` draws it |
  | `tools_without_module` | tools for which no module in scope is known |
  | `ungrouped_modules` | at level `:boundary`, modules that belong to no group |
  | `ungrouped_calls` | at level `:boundary`, `{caller, callee}` where one of them belongs to none |
  | `sources_used` | what was read, of `:application`, `:boundary_map`, `:catalog`, `:supervisors`, `:xref` |

  A caller, callee or target is `{module, function, arity}`.

  Three things leave no trace here either: a module that is handed to a library as data (the
  callback module of a `GenServer`, a function passed to a `Task`), calls of functions that the VM
  implements in C, and private functions that only macros use.
  """

  @fields ~w(unresolved_calls allowlisted_calls macro_expansion_calls external_callees
             external_children modules_without_beam modules_without_debug_info
             unreadable_catalog_entries tools_without_module ungrouped_modules ungrouped_calls
             sources_used)a

  defstruct Enum.map(@fields, &{&1, []})

  @typedoc "The completeness bound of one declared graph."
  @type t :: %__MODULE__{
          unresolved_calls: [{mfa(), target()}],
          allowlisted_calls: [{mfa(), target()}],
          macro_expansion_calls: [{mfa(), mfa() | target()}],
          external_callees: [module()],
          external_children: [{module(), module()}],
          modules_without_beam: [module()],
          modules_without_debug_info: [module()],
          unreadable_catalog_entries: [{:resources | :prompts, String.t()}],
          tools_without_module: [String.t()],
          ungrouped_modules: [module()],
          ungrouped_calls: [{mfa(), mfa()}],
          sources_used: [atom()]
        }

  @typedoc "A call's target as far as the code says it; the arity is -1 when the arguments are a variable."
  @type target :: {atom(), atom(), integer()}

  @doc """
  The names of the fields, in the order of the table.

      iex> hd(BeamMCP.Connectome.Declared.Bound.fields())
      :unresolved_calls
  """
  @spec fields() :: [atom()]
  def fields, do: @fields

  @doc false
  # Lists of any order and with repeats become sorted lists.
  @spec new(Enumerable.t()) :: t()
  def new(lists),
    do: struct!(__MODULE__, Enum.map(lists, fn {field, list} -> {field, sorted(list)} end))

  @doc """
  The bound as a map of strings, lists and maps, for `BeamMCP.Connectome.encode_value/2` and other
  writers of JSON. Functions become `"Module.function/2"`, with `?` for what is not known.
  """
  @spec to_map(t()) :: %{String.t() => list()}
  def to_map(%__MODULE__{} = bound) do
    Map.new(@fields, fn field ->
      {Atom.to_string(field), bound |> Map.fetch!(field) |> Enum.map(&plain/1)}
    end)
  end

  defp sorted(list), do: list |> Enum.uniq() |> Enum.sort()

  defp plain({list, entry}) when list in [:resources, :prompts],
    do: %{"list" => Atom.to_string(list), "entry" => entry}

  defp plain({from, to}), do: %{"from" => plain(from), "to" => plain(to)}

  defp plain({module, function, arity}),
    do:
      "#{known(module, &inspect/1)}.#{known(function, &to_string/1)}/#{known(arity, &to_string/1)}"

  defp plain(module) when is_atom(module), do: inspect(module)
  defp plain(text), do: text

  defp known(unknown, _text) when unknown in [:"$M_EXPR", :"$F_EXPR", -1], do: "?"
  defp known(part, text), do: text.(part)
end
