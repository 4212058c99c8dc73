defmodule BeamMCP.Error do
  @moduledoc """
  What the functions of `BeamMCP` return in `{:error, error}` and raise in their bang versions.

  Code matches on `kind` and reads `details`; `Exception.message/1` is for people.

  | kind | meaning | details |
  |---|---|---|
  | `:catalog` | the catalog is faulty | a `t:fault/0` for everything wrong in it |
  | `:already_started` | an instance of that name runs | `%{name: name, pid: pid}` |
  | `:not_running` | no instance of that name runs | `%{name: name}` |
  | `:listen` | a listener could not be opened | `%{address: address, reason: reason}` |
  | `:tls` | a certificate or key could not be read again | `%{address: address, reason: reason}` |
  | `:native` | the native library refused its configuration | `%{kind: kind, reason: reason}` |
  | `:start` | a process of the instance could not start | `%{reason: reason}` |
  | `:not_registered` | nothing of that key was registered | `%{kind: kind, key: key}` |
  | `:schema` | a schema asks for more than its limits allow | `%{}` |
  | `:uri` | a text is no URI | `%{uri: uri}` |
  """

  @typedoc """
  One thing wrong in a catalog: the kind and name of the definition (a URI for a resource), the
  place in it, what is wrong. The kind is `:catalog` for what belongs to no single definition.
  """
  @type fault :: %{
          kind: :tool | :resource | :template | :prompt | :completion | :catalog,
          definition: String.t(),
          place: String.t(),
          message: String.t()
        }

  @typedoc "What went wrong, see the table above."
  @type kind ::
          :catalog
          | :already_started
          | :not_running
          | :listen
          | :tls
          | :native
          | :start
          | :not_registered
          | :schema
          | :uri

  @typedoc "An error with its facts."
  @type t :: %__MODULE__{kind: kind(), message: String.t(), details: [fault()] | map()}

  defexception [:kind, :message, details: %{}]

  @doc """
  The error for a catalog with `faults`.

      iex> fault = %{kind: :tool, definition: "a b", place: "name", message: "has a space"}
      iex> error = BeamMCP.Error.catalog([fault])
      iex> Exception.message(error)
      "the catalog is faulty:\\n  tool \\"a b\\", name: has a space"
  """
  @spec catalog([fault()]) :: t()
  def catalog(faults) do
    lines = Enum.map(faults, &"\n  #{fault(&1)}")
    %__MODULE__{kind: :catalog, message: "the catalog is faulty:#{lines}", details: faults}
  end

  @doc "A fault as one line of text."
  @spec fault(fault()) :: String.t()
  def fault(fault) do
    "#{fault.kind} #{inspect(fault.definition)}, #{fault.place}: #{fault.message}"
  end

  @doc false
  @spec already_started(term(), pid()) :: t()
  def already_started(name, pid) do
    %__MODULE__{
      kind: :already_started,
      message:
        "an instance named #{inspect(name)} runs already; give this one a name of its own, " <>
          "for example `name: MyApp.MCP`",
      details: %{name: name, pid: pid}
    }
  end

  @doc false
  @spec not_running(term()) :: t()
  def not_running(name) do
    message = "no instance named #{inspect(name)} runs"
    %__MODULE__{kind: :not_running, message: message, details: %{name: name}}
  end

  @doc false
  @spec listen(term(), {atom(), String.t()}) :: t()
  def listen(address, {_kind, reason}) do
    # The native library's sentence names the address already.
    %__MODULE__{kind: :listen, message: reason, details: %{address: address, reason: reason}}
  end

  @doc false
  @spec tls(term(), {atom(), String.t()}) :: t()
  def tls(address, {_kind, reason}) do
    %__MODULE__{
      kind: :tls,
      message: "what the listener has stays, for it cannot use #{reason}",
      details: %{address: address, reason: reason}
    }
  end

  @doc false
  @spec native({atom(), String.t()}) :: t()
  def native({kind, reason}) do
    %__MODULE__{
      kind: :native,
      message: "the native library refused its configuration: #{reason}",
      details: %{kind: kind, reason: reason}
    }
  end

  @doc false
  @spec not_registered(atom(), term(), String.t()) :: t()
  def not_registered(kind, key, why) do
    %__MODULE__{
      kind: :not_registered,
      message: "#{kind} #{inspect(key)} #{why}",
      details: %{kind: kind, key: key}
    }
  end

  @doc false
  @spec schema(String.t()) :: t()
  def schema(message), do: %__MODULE__{kind: :schema, message: message}

  @doc false
  @spec uri(String.t(), String.t()) :: t()
  def uri(uri, fault) do
    %__MODULE__{kind: :uri, message: "the URI #{inspect(uri)} #{fault}", details: %{uri: uri}}
  end

  @doc false
  @spec start(term()) :: t()
  def start(reason) do
    # A store says in a sentence why it cannot start.
    why = if is_binary(reason), do: reason, else: Exception.format_exit(reason)
    message = "the instance could not start: #{why}"
    %__MODULE__{kind: :start, message: message, details: %{reason: reason}}
  end

  defimpl Inspect do
    # This is what the report of a supervisor shows whose instance did not start.
    def inspect(error, _opts), do: "#BeamMCP.Error<#{error.kind}: #{error.message}>"
  end
end
