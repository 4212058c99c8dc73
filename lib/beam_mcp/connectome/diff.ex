defmodule BeamMCP.Connectome.Diff do
  @moduledoc """
  What was declared against what was observed: every label of either in one of four classes, and
  counts of how far the one covers the other.

  A label is an edge's `from`, `to` and `kind`, compared in NFC. The comparison is a difference of
  sets and nothing more: two tools with different names are two tools, however alike they are wired.

  | class | the label is |
  |---|---|
  | `declared_and_observed` | in both |
  | `declared_never_observed` | declared alone: dead authority |
  | `observed_but_undeclared` | observed alone: drift |
  | `changed_sign` | in both, with a different sign supplied on each side: drift |

  `docs/connectome-diff.md` describes the counts and the bytes.
  """

  alias BeamMCP.Connectome
  alias BeamMCP.Connectome.{Edge, Fields, Native}

  @versions [1, 2, 3]

  @enforce_keys [:resource, :schema_version, :window, :classes, :coverage]
  defstruct [:resource, :schema_version, :window, :classes, :coverage]

  @typedoc "An edge without its provenance."
  @type label :: %{from: String.t(), to: String.t(), kind: Edge.kind()}

  @typedoc "A label, and the signs that differ."
  @type changed :: %{
          from: String.t(),
          to: String.t(),
          kind: Edge.kind(),
          declared_sign: Edge.sign(),
          observed_sign: Edge.sign()
        }

  @typedoc "The labels by class, each list by from, to and kind."
  @type classes :: %{
          declared_and_observed: [label()],
          declared_never_observed: [label()],
          observed_but_undeclared: [label()],
          changed_sign: [changed()]
        }

  @typedoc "A comparison; `resource` is the same inside the native library, which writes it."
  @type t :: %__MODULE__{
          resource: reference(),
          schema_version: 1..3,
          window: map(),
          classes: classes(),
          coverage: %{atom() => non_neg_integer()}
        }

  @doc """
  Compares a declared graph with an observed one; each is a graph or an index.

    * `:window` - required: what the observation covers, a map of the grammar that labels have. It
      stands in the record as it is
    * `:schema_version` - of the record, 3 unless it is 1 or 2

  The first thing wrong is refused: `{:invalid, :opts, options}`, with the unknown keys where there
  are some; `{:declared, reason}` and then `{:observed, reason}`, for a graph that has no canonical
  bytes or an edge of the other provenance (`{:invalid, :provenance, other}`); `{:missing, :window}`;
  a window without canonical bytes.
  """
  @spec run(Connectome.source(), Connectome.source(), keyword()) :: {:ok, t()} | {:error, term()}
  def run(declared, observed, options) do
    with :ok <- known(options),
         version = Keyword.get(options, :schema_version, 3),
         :ok <- Fields.member(:schema_version, version, @versions),
         {:ok, resource, classes, coverage} <-
           Native.diff(declared, observed, version),
         {:ok, window} <- window(options) do
      {:ok,
       %__MODULE__{
         resource: resource,
         schema_version: version,
         window: window,
         classes: classes,
         coverage: coverage
       }}
    end
  end

  @doc "Whether something ran that was not declared, or two authorities disagree."
  @spec drift?(t()) :: boolean()
  def drift?(%__MODULE__{classes: classes}),
    do: classes.observed_but_undeclared != [] or classes.changed_sign != []

  @doc """
  The canonical bytes of the record. Takes `:algorithm`, which version 3 names in them.
  """
  @spec encode(t(), keyword()) :: {:ok, binary()} | {:error, term()}
  def encode(%__MODULE__{} = diff, options \\ []) do
    with {:ok, algorithm} <- Connectome.algorithm(options) do
      Native.diff_encode(diff.resource, diff.schema_version, algorithm, diff.window)
    end
  end

  @doc "The digest over the canonical bytes in lower-case hexadecimal."
  @spec digest(t(), keyword()) :: {:ok, String.t()} | {:error, term()}
  def digest(%__MODULE__{} = diff, options \\ []) do
    with {:ok, algorithm} <- Connectome.algorithm(options) do
      Native.diff_digest(diff.resource, diff.schema_version, algorithm, diff.window)
    end
  end

  defp known(options) do
    if Keyword.keyword?(options) do
      unknown = Keyword.keys(options) -- [:window, :schema_version]
      Fields.that(unknown == [], :opts, unknown)
    else
      {:error, {:invalid, :opts, options}}
    end
  end

  defp window(options) do
    with {:ok, window} <- Keyword.fetch(options, :window),
         {:ok, _bytes} <- Connectome.encode_value(window) do
      {:ok, window}
    else
      :error ->
        {:error, {:missing, :window}}

      {:error, _reason} ->
        {:error, {:uncanonical, {:label_value, "record", :window, options[:window]}}}
    end
  end
end
