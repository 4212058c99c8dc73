defmodule BeamMCP.Dispatch.Around do
  @moduledoc false
  # The host's functions around every handler: `handler_task_init`, `context_builder` and
  # `telemetry_metadata` before it, `exception_reporter` after it failed. They run in the call's
  # process, those before together within `hook_timeout_ms`; over it the process is killed, and so
  # the call fails like any that is killed.

  alias BeamMCP.{Config, Context, Fault, Handler, Kind, Report, Telemetry}
  alias BeamMCP.Dispatch.Watchdog

  @options ~w(handler_task_init context_builder telemetry_metadata exception_reporter)a
  @enforce_keys @options ++ [:limit_ms]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          handler_task_init: Handler.t() | nil,
          context_builder: Handler.t() | nil,
          telemetry_metadata: Handler.t() | nil,
          exception_reporter: Handler.t() | nil,
          limit_ms: pos_integer()
        }

  @max_host_bytes 65_536
  @max_entries 16
  @max_text_bytes 256

  @doc "The functions that the host has, or `nil`. Without telemetry nobody reads its metadata."
  @spec new(Config.t(), boolean()) :: t() | nil
  def new(config, telemetry?) do
    functions = Map.take(config, @options)
    functions = if telemetry?, do: functions, else: %{functions | telemetry_metadata: nil}

    if Enum.any?(functions, fn {_option, function} -> function != nil end) do
      struct!(__MODULE__, Map.put(functions, :limit_ms, config.hook_timeout_ms))
    end
  end

  @doc "What runs before the handler: its context, and what telemetry is told beside its own."
  @spec prepare(t() | nil, Context.t()) :: {:ok, Context.t(), map()} | :failed
  def prepare(nil, context), do: {:ok, context, %{}}

  def prepare(around, context) do
    Watchdog.within(around.limit_ms, "what runs before a handler", fn ->
      with :ok <- init(around.handler_task_init, context),
           {:ok, context} <- build(around.context_builder, context) do
        {:ok, context, metadata(around.telemetry_metadata, context)}
      end
    end)
  end

  @doc "Tells the host's reporter. The caller has its answer already."
  @spec report(t() | nil, Report.t()) :: :ok
  def report(%{exception_reporter: reporter} = around, report) when reporter != nil do
    Watchdog.within(around.limit_ms, "exception_reporter", fn ->
      guarded("exception_reporter", :ok, fn -> Handler.call(reporter, [report]) end)
    end)

    :ok
  end

  def report(_none, _report), do: :ok

  defp init(nil, _context), do: :ok

  defp init(function, context) do
    guarded("handler_task_init", :failed, fn ->
      Handler.call(function, [context])
      :ok
    end)
  end

  defp build(nil, context), do: {:ok, context}

  defp build(function, context) do
    guarded("context_builder", :failed, fn ->
      {:ok, Map.put(context, :host, host!(Handler.call(function, [context])))}
    end)
  end

  defp host!(map) when is_map(map) and not is_struct(map) do
    bytes = :erlang.external_size(map)

    if bytes > @max_host_bytes,
      do: raise(ArgumentError, "a map of #{bytes} bytes, at most #{@max_host_bytes} are kept"),
      else: map
  end

  defp host!(other), do: raise(ArgumentError, "expected a map, got #{Kind.of(other)}")

  defp metadata(nil, _context), do: %{}

  defp metadata(function, context) do
    guarded("telemetry_metadata", %{}, fn -> metadata!(Handler.call(function, [context])) end)
  end

  defp metadata!(entries) do
    entries = Map.new(entries)

    if map_size(entries) > @max_entries do
      raise ArgumentError, "#{map_size(entries)} entries, at most #{@max_entries} are taken"
    end

    Enum.each(entries, &entry!/1)
    entries
  end

  defp entry!({key, value}) do
    cond do
      not is_atom(key) ->
        raise ArgumentError, "expected atom keys, got #{Kind.of(key)}"

      key in Telemetry.dispatch_keys() ->
        raise ArgumentError, "the key #{key} is taken"

      scalar?(value) ->
        :ok

      true ->
        raise ArgumentError, "#{key} is no atom, number or string of #{@max_text_bytes} bytes"
    end
  end

  defp scalar?(text) when is_binary(text), do: byte_size(text) <= @max_text_bytes
  defp scalar?(value), do: is_atom(value) or is_number(value)

  defp guarded(place, otherwise, run) do
    run.()
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, place)
      otherwise
  end
end
