defmodule BeamMCP.Connectome do
  @moduledoc """
  What the parts of a running system can reach, what they did reach, and the difference, in bytes
  that have one form and a digest.

  A connectome is a directed graph (`BeamMCP.Connectome.Graph`). It comes from declarations
  (`BeamMCP.Connectome.Declared`) and from observation (`BeamMCP.Connectome.Observed`);
  `BeamMCP.Connectome.Diff` compares the two and `BeamMCP.Connectome.Reach` answers what reaches
  what. `docs/connectome-canonical.md` describes the bytes so that others can write and check them.

  Every function here takes a graph or its index, and runs on a dirty scheduler.
  """

  alias BeamMCP.Connectome.{Fields, Graph, Index, Native}

  @algorithms [:sha256, :sha384, :sha512]
  @versions [1, 2, 3]

  @typedoc "The digest that the bytes name."
  @type algorithm :: :sha256 | :sha384 | :sha512

  @typedoc "A graph, as terms or inside the native library."
  @type source :: Graph.t() | Index.t()

  @typedoc "Why there are no canonical bytes."
  @type uncanonical ::
          {:invalid_graph, Graph.refusal()}
          | {:duplicate_id_after_nfc, id :: String.t()}
          | {:invalid_utf8, id :: binary(), field :: term()}
          | {:label_key, id :: String.t(), key :: term()}
          | {:duplicate_label_key, id :: String.t(), key :: String.t()}
          | {:label_value, id :: String.t(), label :: String.t(), value :: term()}
          | {:not_xml, id :: String.t(), codepoint :: char()}

  @typedoc "A refusal: of an option, or of the graph."
  @type refusal ::
          {:unknown_key, term()} | {:invalid, atom(), term()} | {:uncanonical, uncanonical()}

  @typedoc "What checked bytes say about themselves."
  @type verified :: %{schema_version: pos_integer(), algorithm: algorithm(), digest: String.t()}

  @doc """
  The canonical bytes of a graph.

    * `:algorithm` - `:sha256` (default), `:sha384` or `:sha512`; version 3 names it in the bytes,
      versions 1 and 2 are SHA-256 always
    * `:schema_version` - another version than the graph's own; a sign that the version has no
      word for is refused, the neutral ones (`:unknown` of version 1, `:unset` later) widen to version 1 but
      never narrow
  """
  @spec encode(source(), keyword()) :: {:ok, binary()} | {:error, refusal()}
  def encode(source, options \\ []) do
    with {:ok, algorithm, version} <- options(options) do
      Native.encode(source, version, algorithm)
    end
  end

  @doc "`encode/2`, raising `ArgumentError` with the refusal."
  @spec encode!(source(), keyword()) :: binary()
  def encode!(source, options \\ []), do: Fields.bang!(encode(source, options), "graph")

  @doc """
  The digest over the canonical bytes in lower-case hexadecimal; takes the options of `encode/2`.
  The bytes are hashed as they are written and kept nowhere.
  """
  @spec digest(source(), keyword()) :: {:ok, String.t()} | {:error, refusal()}
  def digest(source, options \\ []) do
    with {:ok, algorithm, version} <- options(options) do
      Native.digest(source, version, algorithm)
    end
  end

  @doc "`digest/2`, raising `ArgumentError` with the refusal."
  @spec digest!(source(), keyword()) :: String.t()
  def digest!(source, options \\ []), do: Fields.bang!(digest(source, options), "graph")

  @doc """
  The weights as JSON, one object for each edge that has one. No digest covers them.
  """
  @spec sidecar(source()) :: {:ok, binary()} | {:error, refusal()}
  def sidecar(source), do: Native.sidecar(source)

  @doc "The graph in the language of Graphviz, for people; not canonical."
  @spec dot(source()) :: {:ok, String.t()} | {:error, refusal()}
  def dot(source), do: Native.dot(source)

  @doc """
  The graph as GraphML, for tools; not canonical. What XML 1.0 cannot say is refused as
  `{:uncanonical, {:not_xml, id, codepoint}}`.
  """
  @spec graphml(source()) :: {:ok, String.t()} | {:error, refusal()}
  def graphml(source), do: Native.graphml(source)

  @doc """
  Checks that bytes are what they say: a graph of version 1, 2 or 3, or a federation (version 4),
  in its only form.

    * `:digest` - a digest in lower-case hexadecimal that the bytes must have

  The bytes are hashed as they are held. What is wrong is looked for in this order:

  | refusal | the bytes |
  |---|---|
  | `{:malformed, text}` | are no JSON, or have not the members of their version |
  | `{:invalid, :schema_version, value}` | follow a version that does not exist |
  | `{:digest_mismatch, digest}` | have another digest, this one |
  | `{:uncanonical, reason}` | have their digest and hold no graph, as `encode/2` would refuse it |
  | `{:part_digest, member, digest}` | hold a part of a federation that has another digest than it says |
  | `{:not_canonical, offset}` | would be written differently from that byte on |

      iex> bytes = ~s({"schema_version":1,"nodes":[],"edges":[]})
      iex> {:ok, verified} = BeamMCP.Connectome.verify(bytes)
      iex> {verified.algorithm, binary_part(verified.digest, 0, 8)}
      {:sha256, "0de8bf12"}
      iex> BeamMCP.Connectome.verify(bytes <> " ")
      {:error, {:not_canonical, 42}}
  """
  @spec verify(binary(), keyword()) :: {:ok, verified()} | {:error, term()}
  def verify(bytes, options \\ []) when is_binary(bytes) do
    with :ok <- Fields.check(options, [], [:digest]),
         digest = options[:digest],
         :ok <- Fields.that(is_nil(digest) or is_binary(digest), :digest, digest),
         {:ok, version, algorithm, digest} <- Native.verify(bytes, digest) do
      {:ok, %{schema_version: version, algorithm: algorithm, digest: digest}}
    end
  end

  @doc """
  The graph that canonical bytes hold. Labels come back with string keys, and no edge has a weight.
  Refuses what `verify/2` refuses.
  """
  @spec decode(binary()) :: {:ok, Graph.t()} | {:error, term()}
  def decode(bytes) when is_binary(bytes), do: Native.decode(bytes)

  @doc """
  The canonical bytes of a map of the grammar that labels have, for records beside a graph.

      iex> BeamMCP.Connectome.encode_value(%{"b" => [1, nil], a: "cafe\u0301"})
      {:ok, ~s({"a":"café","b":[1,null]})}
  """
  @spec encode_value(map()) :: {:ok, binary()} | {:error, refusal()}
  def encode_value(value) do
    with :ok <- plain_map(value), do: Native.encode_value(value)
  end

  @doc """
  The digest over `encode_value/1`. A value that names an `algorithm` must name the one of the
  option; another is refused as `{:invalid, :algorithm, named}`.
  """
  @spec digest_value(map(), keyword()) :: {:ok, String.t()} | {:error, refusal()}
  def digest_value(value, options \\ []) do
    with {:ok, algorithm} <- algorithm(options),
         :ok <- plain_map(value),
         named = Map.get(value, :algorithm, Map.get(value, "algorithm", algorithm)),
         :ok <- Fields.member(:algorithm, named, [algorithm, Atom.to_string(algorithm)]) do
      Native.digest_value(value, algorithm)
    end
  end

  @doc false
  @spec algorithm(keyword()) :: {:ok, algorithm()} | {:error, refusal()}
  def algorithm(options) do
    with :ok <- Fields.check(options, [], [:algorithm]),
         {:ok, algorithm, nil} <- options(options),
         do: {:ok, algorithm}
  end

  defp plain_map(value) when is_map(value) and not is_struct(value), do: :ok

  defp plain_map(value),
    do: {:error, {:uncanonical, {:label_value, "record", :record, value}}}

  defp options(options) do
    with :ok <- Fields.check(options, [], [:algorithm, :schema_version]),
         algorithm = Keyword.get(options, :algorithm, :sha256),
         version = options[:schema_version],
         :ok <- Fields.member(:algorithm, algorithm, @algorithms),
         :ok <- Fields.member(:schema_version, version, [nil | @versions]) do
      {:ok, algorithm, version}
    end
  end
end
