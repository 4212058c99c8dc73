defmodule BeamMCP.Catalog.Definition do
  @moduledoc false
  # One entry of a catalog, checked and lowered to what the native library compiles.
  #
  #     kind     :tool, :resource, :template, :prompt or :completion
  #     key      what names it among its kind: a name, a URI, a URI template, {ref, argument}
  #     native   the native library's map, without its `handler`
  #     handler  the host's own function for it, or nil
  #     name     as the host declared it: what the dispatch function and the callbacks get
  #     owner    :catalog, :registry, or the id of the definition that brought this one along
  #     parts    the ids of those it brought along itself
  #
  # What needs more than a look - schemas, their references and budget, header annotations, URI
  # templates - is checked by the native library.

  alias BeamMCP.Catalog.Definition.{Completion, Prompt, Resource, Template, Tool}
  alias BeamMCP.{Error, Handler, Native}

  @enforce_keys [:kind, :key, :name, :native, :handler]
  defstruct @enforce_keys ++ [owner: :registry, parts: []]

  @type kind :: :tool | :resource | :template | :prompt | :completion
  @type key :: String.t() | {{:prompt | :template, String.t()}, String.t() | nil}
  @type id :: {kind(), key()}

  @type t :: %__MODULE__{
          kind: kind(),
          key: key(),
          name: term(),
          native: map(),
          handler: Handler.t() | nil,
          owner: :catalog | :registry | id(),
          parts: [id()]
        }

  @typedoc """
  What the instance brings along: the kinds it can serve without a handler of their own, whether
  `cache_scope: :public` is permitted, and whether declared argument names become atoms.
  """
  @type host :: %{serves: [kind()], public_cache?: boolean(), keys: :atoms | :strings}

  @modules %{
    tool: Tool,
    resource: Resource,
    template: Template,
    prompt: Prompt,
    completion: Completion
  }

  @doc "The kinds that `capabilities` lists, under which key, and whether it must."
  @spec lists() :: [{atom(), kind(), :required | :optional}]
  def lists do
    [
      {:tools, :tool, :required},
      {:resources, :resource, :required},
      {:templates, :template, :optional},
      {:prompts, :prompt, :required}
    ]
  end

  @doc "The definitions of one specification, or everything that is wrong with it."
  @spec read(kind(), term(), String.t(), host()) :: {:ok, [t()]} | {:error, [Error.fault()]}
  def read(kind, spec, place, host) do
    module = Map.fetch!(@modules, kind)

    if module.spec?(spec) do
      case module.faults(spec, host) do
        [] -> {:ok, module.definitions(spec, host)}
        faults -> {:error, named(faults, kind, module.label(spec) || place)}
      end
    else
      {:error, named([{"value", "must be #{module.expected()}"}], kind, place)}
    end
  end

  @doc "What names the definition for the native library and in messages."
  @spec id(t()) :: id()
  def id(%__MODULE__{kind: kind, key: key}), do: {kind, key}

  @doc "A key as text for people."
  @spec label(key()) :: String.t()
  def label({{_kind, ref}, nil}), do: ref
  def label({{_kind, ref}, argument}), do: "#{ref} #{argument}"
  def label(key), do: key

  @doc """
  Those whose id no other has, and a fault for each id that several have: neither is more right
  than the other.
  """
  @spec without_duplicates([t()]) :: {[t()], [Error.fault()]}
  def without_duplicates(definitions) do
    counts = Enum.frequencies_by(definitions, &id/1)
    {unique, doubled} = Enum.split_with(definitions, &(counts[id(&1)] == 1))

    faults =
      for {kind, key} = id <- doubled |> Enum.map(&id/1) |> Enum.uniq() do
        fault(kind, key, key_place(kind), "is used by #{counts[id]} #{kind}s")
      end

    {unique, faults}
  end

  @doc "What the native library found wrong in `definitions`; it says no kinds."
  @spec native_faults([Native.compile_fault()], [t()]) :: [Error.fault()]
  def native_faults(faults, definitions) do
    kinds = Map.new(definitions, &{label(&1.key), &1.kind})

    for {name, place, message} <- faults do
      %{kind: Map.get(kinds, name, :catalog), definition: name, place: place, message: message}
    end
  end

  @doc "A fault of one definition."
  @spec fault(kind(), key(), String.t(), String.t()) :: Error.fault()
  def fault(kind, key, place, message) do
    %{kind: kind, definition: label(key), place: place, message: message}
  end

  @doc "The field in which a definition of this kind has its key."
  @spec key_place(kind()) :: String.t()
  def key_place(kind), do: Map.fetch!(@modules, kind).key_place()

  @doc "The id for what a host names a registered definition by."
  @spec id(kind(), term()) :: {:ok, id()} | :error
  def id(:completion, ref) do
    if Completion.spec?({ref, nil}) and Completion.label({ref, nil}),
      do: {:ok, {:completion, Completion.key(ref)}},
      else: :error
  end

  def id(kind, name) when is_map_key(@modules, kind) and is_binary(name), do: {:ok, {kind, name}}

  def id(kind, name) when kind in [:tool, :prompt] and is_atom(name),
    do: {:ok, {kind, Atom.to_string(name)}}

  def id(_kind, _name), do: :error

  defp named(faults, kind, label) do
    for {place, message} <- faults,
        do: %{kind: kind, definition: label, place: place, message: message}
  end
end
