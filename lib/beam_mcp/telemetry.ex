defmodule BeamMCP.Telemetry do
  @events [
    {[:beam_mcp, :request, :start], "`system_time`",
     "`instance`, `transport`, `method`, `revision`",
     "A request began. Emitted when it has ended, together with the next; `system_time` is when it began"},
    {[:beam_mcp, :request, :stop], "`duration`, `request_bytes`, `response_bytes`",
     "the same, `tool`, `resource`, `prompt`, `status`, `code`, `refusal`",
     "A request was answered. What it was for is named as declared: of a template, the template"},
    {[:beam_mcp, :request, :exception], "as `:stop`", "as `:stop`",
     "A request was answered with -32603, in place of `:stop`; a tool that failed is answered with a result"},
    {[:beam_mcp, :request, :refused], "as `:stop`", "as `:stop`",
     "A request was refused or its tool failed, before its `:stop`; `refusal` says why in a word"},
    {[:beam_mcp, :dispatch, :start], "`system_time`, `monotonic_time`",
     "`instance`, `call`, `request_id`, `revision`, `transport`, `principal`, and one of `tool`, " <>
       "`resource`, `prompt`, `completion`",
     "A handler is called. It is named as declared: of a template, the template"},
    {[:beam_mcp, :dispatch, :stop], "`duration`, `monotonic_time`", "the same", "It returned"},
    {[:beam_mcp, :dispatch, :exception], "`duration`, `monotonic_time`",
     "the same, `kind`, `reason` (an exception's module, else `nil`)",
     "It raised, threw or exited"},
    {[:beam_mcp, :connection, :start], "`system_time`", "`instance`, `peer`",
     "A connection was accepted"},
    {[:beam_mcp, :connection, :stop], "`requests`", "`instance`, `peer`, `reason`",
     "A connection ended"},
    {[:beam_mcp, :connection, :refused], "`system_time`", "`instance`, `peer`",
     "A connection was closed at once: the listener was full"},
    {[:beam_mcp, :auth, :stop], "`duration`",
     "`instance`, `outcome` (`:permit` or `:deny`), `reason`, `issuer`, `binding`, `principal`, `client`",
     "An access token was looked at, or missing, and its sender let in or refused. Principal and client are the first 8 hexadecimal digits of SHA-256"},
    {[:beam_mcp, :auth, :denied], "`missing`, `held` (scopes)",
     "`instance`, `reason`, `method`, `definition`, `denial` (`:challenge`, `:neutral`, or `nil` of a limit), `wanted`, `principal`, `client`, `issuer`",
     "An operation was refused to a sender who was let in: scopes do not suffice, or it asks for too much"},
    {[:beam_mcp, :auth, :jwks], "`keys`, `age`",
     "`instance`, `issuer`, `outcome` (`:fetched`, `:stale` or `:none`)",
     "An issuer's keys were asked for: newer ones came, old ones serve on, or there are none. `age` is that of the keys that serve"}
  ]

  @table Enum.map_join(@events, "\n", fn {name, measurements, metadata, meaning} ->
           "| `#{inspect(name)}` | #{measurements} | #{metadata} | #{meaning} |"
         end)

  @moduledoc """
  The events that BeamMCP emits when the host has `:telemetry`.

  Whether it has is looked up when an instance starts. Durations and times are in native units,
  sizes in bytes. Events carry identity and sizes, never arguments, results or messages of
  exceptions.

  | event | measurements | metadata | meaning |
  |---|---|---|---|
  #{@table}

  Dispatch events are emitted in the call's process, with what the option `telemetry_metadata`
  adds to their metadata; the others in a process of the instance,
  shortly after what they tell.
  """

  @internal_error -32_603
  @guarded %{"allowed_hosts" => "Host", "allowed_origins" => "Origin"}
  @named [tool: "tools/call", resource: "resources/read", prompt: "prompts/get"]
  @context_keys ~w(instance call request_id revision transport principal)a
  @dispatch_keys @context_keys ++ ~w(tool resource prompt completion kind reason)a

  # Absent unless the host has it, hence never named at compile time.
  @compile {:no_warn_undefined, :telemetry}

  alias BeamMCP.{Context, Fault, Instance}

  @doc "The names of all events, for `:telemetry.attach_many/4`."
  @spec events() :: [[atom()]]
  def events, do: Enum.map(@events, &elem(&1, 0))

  @doc false
  @spec available?() :: boolean()
  def available?,
    do: Code.ensure_loaded?(:telemetry) and function_exported?(:telemetry, :execute, 3)

  @doc false
  # The keys that the metadata of dispatch events have of their own.
  @spec dispatch_keys() :: [atom()]
  def dispatch_keys, do: @dispatch_keys

  @doc false
  @spec dispatch({atom(), term()}, Context.t(), map(), (() -> result)) :: result
        when result: term()
  def dispatch({kind, name}, context, more, run) do
    metadata = context |> Map.take(@context_keys) |> Map.put(kind, name) |> Map.merge(more)
    began = System.monotonic_time()

    emit(
      [:dispatch, :start],
      %{system_time: System.system_time(), monotonic_time: began},
      metadata
    )

    try do
      run.()
    catch
      kind, reason ->
        metadata =
          Map.merge(metadata, %{
            kind: kind,
            reason: exception_module(kind, reason, __STACKTRACE__)
          })

        emit([:dispatch, :exception], since(began), metadata)
        :erlang.raise(kind, reason, __STACKTRACE__)
    else
      result ->
        emit([:dispatch, :stop], since(began), metadata)
        result
    end
  end

  @doc false
  @spec native(Instance.t(), {atom(), map(), map()}) :: :ok
  def native(instance, {:host_fault, _measurements, %{definition: nil} = metadata}) do
    Fault.log_text("#{inspect(instance.name)}: #{metadata.message}")
  end

  def native(_instance, {:host_fault, _measurements, metadata}) do
    Fault.log_text("#{inspect(metadata.definition)}: #{metadata.message}")
  end

  def native(instance, {:unlisted, _measurements, %{option: option, value: value}}) do
    Fault.log_refusal(
      "#{inspect(instance.name)}: refused a request whose #{@guarded[option]} is #{value}; " <>
        "if it is meant to be served, name it in #{option}"
    )
  end

  def native(%{telemetry?: false}, _event), do: :ok

  def native(instance, {:request, measurements, metadata}) do
    {definition, metadata} = Map.pop(metadata, :definition)

    metadata =
      metadata
      |> Map.merge(named(metadata.method, definition))
      |> Map.put(:instance, instance.name)

    {duration_us, measurements} = Map.pop(measurements, :duration_us)
    duration = System.convert_time_unit(duration_us, :microsecond, :native)
    measurements = Map.put(measurements, :duration, duration)
    began = %{system_time: System.system_time() - duration}

    emit([:request, :start], began, Map.take(metadata, ~w(instance transport method revision)a))
    if metadata.refusal, do: emit([:request, :refused], measurements, metadata)
    emit([:request, ending(metadata.code)], measurements, metadata)
  end

  def native(instance, {:decision, %{duration_us: duration_us}, metadata}) do
    duration = System.convert_time_unit(duration_us, :microsecond, :native)
    metadata = Map.take(metadata, ~w(outcome reason issuer binding principal client)a)
    emit([:auth, :stop], %{duration: duration}, Map.put(metadata, :instance, instance.name))
  end

  def native(instance, {:decision, %{held: held}, %{outcome: :deny} = metadata}) do
    measurements = %{missing: length(metadata.missing), held: held}

    metadata =
      Map.take(metadata, ~w(reason method definition denial wanted principal client issuer)a)

    emit([:auth, :denied], measurements, Map.put(metadata, :instance, instance.name))
  end

  # Operations that were permitted, and hooks of the host's own, are the audit's alone.
  def native(_instance, {:decision, _measurements, _metadata}), do: :ok

  def native(instance, {:connection_open, _measurements, metadata}) do
    emit(
      [:connection, :start],
      %{system_time: System.system_time()},
      Map.put(metadata, :instance, instance.name)
    )
  end

  def native(instance, {:connection_close, measurements, metadata}) do
    emit([:connection, :stop], measurements, Map.put(metadata, :instance, instance.name))
  end

  def native(instance, {:refused, _measurements, metadata}) do
    emit(
      [:connection, :refused],
      %{system_time: System.system_time()},
      Map.put(metadata, :instance, instance.name)
    )
  end

  @doc false
  @spec keys(Instance.name(), String.t(), :fetched | :stale | :none, non_neg_integer(), integer()) ::
          :ok
  def keys(name, issuer, outcome, count, age_ms) do
    with {:ok, %{telemetry?: true}} <- Instance.fetch(name) do
      age = System.convert_time_unit(age_ms, :millisecond, :native)
      metadata = %{instance: name, issuer: issuer, outcome: outcome}
      emit([:auth, :jwks], %{keys: count, age: age}, metadata)
    end

    :ok
  end

  # The method says what kind of definition it was.
  defp named(method, definition),
    do: Map.new(@named, fn {key, named} -> {key, if(named == method, do: definition)} end)

  defp ending(@internal_error), do: :exception
  defp ending(_code), do: :stop

  defp emit(event, measurements, metadata),
    do: :telemetry.execute([:beam_mcp | event], measurements, metadata)

  defp since(began) do
    now = System.monotonic_time()
    %{duration: now - began, monotonic_time: now}
  end

  # The class only: a message may hold arguments.
  defp exception_module(:error, reason, stacktrace),
    do: Exception.normalize(:error, reason, stacktrace).__struct__

  defp exception_module(_kind, _reason, _stacktrace), do: nil
end
