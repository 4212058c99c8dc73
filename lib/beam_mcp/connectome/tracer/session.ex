defmodule BeamMCP.Connectome.Tracer.Session do
  @moduledoc false
  # What the VM is told to trace, and how it is told to stop.
  #
  # From OTP 27 on this is a session of its own (`:trace`), which neither sees nor touches what else
  # is traced on the node, and which the VM ends when nobody holds it. Before, there is one trace for
  # all: the patterns and flags set here are set for everybody, and cleared for everybody.
  #
  # Of a call only module, function and arity are sent, never an argument; the caller comes with it.

  @compile {:no_warn_undefined, :trace}

  @enforce_keys [:handle, :modules, :processes]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          handle: term() | :shared,
          modules: [module()],
          processes: [pid()]
        }

  @with_caller [{:_, [], [{:message, {:caller}}]}]

  @doc "Whether the VM has sessions."
  @spec own?() :: boolean()
  def own?, do: Code.ensure_loaded?(:trace) and function_exported?(:trace, :session_create, 3)

  @doc "Traces calls into `modules` and what `processes` send, for the calling process."
  @spec open([module()], [pid()]) :: t()
  def open(modules, processes) do
    handle = if own?(), do: :trace.session_create(__MODULE__, self(), []), else: :shared
    session = %__MODULE__{handle: handle, modules: modules, processes: processes}

    for module <- modules, do: pattern(handle, {module, :_, :_}, @with_caller)
    if modules != [], do: trace(handle, :all, true, [:call, :arity])
    for pid <- processes, do: trace(handle, pid, true, [:send])
    session
  end

  @doc "Stops tracing. May be called by any process, and more than once."
  @spec close(t()) :: :ok
  def close(%{handle: :shared} = session) do
    for module <- session.modules, do: pattern(:shared, {module, :_, :_}, false)
    for pid <- session.processes, Process.alive?(pid), do: trace(:shared, pid, false, [:send])
    :ok
  end

  def close(%{handle: handle}) do
    :trace.session_destroy(handle)
    :ok
  end

  defp pattern(:shared, mfa, spec), do: :erlang.trace_pattern(mfa, spec, [:global])
  defp pattern(handle, mfa, spec), do: :trace.function(handle, mfa, spec, [:global])

  defp trace(:shared, what, true, flags),
    do: :erlang.trace(what, true, [{:tracer, self()} | flags])

  defp trace(:shared, what, false, flags) do
    :erlang.trace(what, false, flags)
  rescue
    # It ended in between.
    ArgumentError -> 0
  end

  defp trace(handle, what, on?, flags), do: :trace.process(handle, what, on?, flags)
end
