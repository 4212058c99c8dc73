defmodule BeamMCP.Connectome.Node do
  @moduledoc """
  One part of a composed MCP system: a server, what it offers, a process, a module or a function.

    * `id` - follows from what the part is, see `id/1`; two builds of one system agree on it
    * `kind` - `:server`, `:tool`, `:resource`, `:prompt`, `:process` or `:module`
    * `level` - how finely the part was looked at: `:mfa`, `:module`, `:boundary` or `:server`
    * `labels` - a map of whatever is to be said about the part; `docs/connectome-canonical.md` says
      which values have bytes

  A host may write the struct by hand: `BeamMCP.Connectome.Graph.new/1` checks every field again.
  """

  alias BeamMCP.Connectome.Fields

  @kinds [:server, :tool, :resource, :prompt, :process, :module]
  @levels [:mfa, :module, :boundary, :server]
  @named [:tool, :resource, :prompt, :process]

  @enforce_keys [:id, :kind, :level]
  defstruct [:id, :kind, :level, labels: %{}]

  @typedoc "What a node stands for."
  @type kind :: :server | :tool | :resource | :prompt | :process | :module

  @typedoc "How finely the part was looked at, finest first."
  @type level :: :mfa | :module | :boundary | :server

  @typedoc "What an id is made of: a tag, the name of the server, and what the tag needs."
  @type identity ::
          {:server, server :: String.t()}
          | {:tool | :resource | :prompt | :process, server :: String.t(), atom() | String.t()}
          | {:module, server :: String.t(), module() | {module(), atom(), arity()}}
          | {:boundary, server :: String.t(), :application | :boundary_module, atom()}

  @typedoc "One part of the system."
  @type t :: %__MODULE__{id: String.t(), kind: kind(), level: level(), labels: map()}

  @typedoc "Why a node is refused."
  @type refusal :: {:unknown_key, term()} | {:missing, atom()} | {:invalid, atom(), term()}

  @doc """
  A node from `kind:`, `level:`, `identity:` and, if there are any, `labels:`.

      iex> BeamMCP.Connectome.Node.new(kind: :tool, level: :server, identity: {:tool, "srv", :echo})
      {:ok, %BeamMCP.Connectome.Node{id: "srv/tool/echo", kind: :tool, level: :server, labels: %{}}}

  The first thing wrong is refused by name: `{:invalid, :opts, value}` for options that are no
  keyword list, `{:unknown_key, key}`, `{:missing, key}`, and `{:invalid, field, value}` - for the
  identity also where its tag is not the kind, or its shape means another level.
  """
  @spec new(keyword()) :: {:ok, t()} | {:error, refusal()}
  def new(options) do
    with :ok <- Fields.check(options, [:kind, :level, :identity], [:labels]),
         labels = Keyword.get(options, :labels, %{}),
         node = %__MODULE__{id: "", kind: options[:kind], level: options[:level], labels: labels},
         :ok <- Fields.member(:kind, node.kind, @kinds),
         :ok <- Fields.member(:level, node.level, @levels),
         :ok <- Fields.that(is_map(labels) and not is_struct(labels), :labels, labels),
         {:ok, id} <- identity(options[:identity], node) do
      {:ok, %{node | id: id}}
    end
  end

  @doc "The same, raising `ArgumentError` with the refusal."
  @spec new!(keyword()) :: t()
  def new!(options), do: Fields.bang!(new(options), "node")

  @doc """
  The id of what `identity` names.

  The parts are joined by `/`; a `%` in a part becomes `%25` and a `/` becomes `%2F`, so different
  parts never join to one id. A name is the same as an atom and as a string.

      iex> BeamMCP.Connectome.Node.id({:resource, "srv", "file:///a"})
      "srv/resource/file:%2F%2F%2Fa"
      iex> BeamMCP.Connectome.Node.id({:module, "srv", {String, :trim, 1}})
      "srv/module/String/trim/1"

  Raises `ArgumentError` for anything else.
  """
  @spec id(identity()) :: String.t()
  def id(identity) do
    case parts(identity) do
      nil -> raise ArgumentError, "#{inspect(identity)} names no part of a connectome"
      parts -> Enum.map_join(parts, "/", &escape/1)
    end
  end

  defp parts({_tag, server}) when not is_binary(server), do: nil
  defp parts({_tag, server, _name}) when not is_binary(server), do: nil
  defp parts({:server, server}), do: [server, "server"]

  defp parts({tag, server, name}) when tag in @named and (is_atom(name) or is_binary(name)),
    do: [server, Atom.to_string(tag), to_string(name)]

  defp parts({:module, server, {module, function, arity}})
       when is_atom(module) and is_atom(function) and is_integer(arity) and arity >= 0,
       do: [server, "module", inspect(module), Atom.to_string(function), to_string(arity)]

  defp parts({:module, server, module}) when is_atom(module),
    do: [server, "module", inspect(module)]

  defp parts({:boundary, server, :application, name}) when is_binary(server) and is_atom(name),
    do: [server, "boundary", "application", Atom.to_string(name)]

  defp parts({:boundary, server, :boundary_module, name})
       when is_binary(server) and is_atom(name),
       do: [server, "boundary", "boundary_module", inspect(name)]

  defp parts(_other), do: nil

  defp escape(part), do: part |> String.replace("%", "%25") |> String.replace("/", "%2F")

  defp identity(identity, node) do
    if fits?(identity, node) and parts(identity) != nil,
      do: {:ok, id(identity)},
      else: {:error, {:invalid, :identity, identity}}
  end

  # A function is level `:mfa` and nothing else is; the same holds for modules and boundaries.
  defp fits?({:module, _server, {_module, _function, _arity}}, node),
    do: node.kind == :module and node.level == :mfa

  defp fits?({:module, _server, _module}, node),
    do: node.kind == :module and node.level == :module

  defp fits?({:boundary, _server, _source, _name}, node),
    do: node.kind == :module and node.level == :boundary

  defp fits?(identity, node),
    do: is_tuple(identity) and tuple_size(identity) > 0 and elem(identity, 0) == node.kind
end
