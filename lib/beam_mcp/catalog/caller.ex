defmodule BeamMCP.Catalog.Caller do
  @moduledoc false
  # The catalog as one caller sees it (`capabilities/1`), asked for by a request that needs it.
  # Compiled catalogs are kept by content, so that callers who see the same share one, and what is wrong
  # with it is logged once.

  alias BeamMCP.Catalog.{Definition, Handlers, Reader}
  alias BeamMCP.{Config, Context, Error, Fault, Instance, Native}

  # Entries; a full cache is emptied.
  @max_cached 1_000

  @spec answer(Instance.t(), Context.t()) :: {:catalog, Native.catalog()} | :failed
  def answer(%{config: config} = instance, context) do
    host = %{Config.host(config) | keys: :strings}
    {:catalog, cached(instance, Reader.capabilities(config.catalog.capabilities(context), host))}
  catch
    kind, reason ->
      place = "#{inspect(instance.config.catalog)}.capabilities/1"
      Fault.log(kind, reason, __STACKTRACE__, place)
      :failed
  end

  defp cached(instance, {definitions, faults} = read) do
    key = :crypto.hash(:sha256, :erlang.term_to_binary(read, [:deterministic]))

    case :ets.lookup(instance.caller_catalogs, key) do
      [{^key, catalog}] ->
        catalog

      [] ->
        log(faults)
        {:ok, catalog} = compile_sound(instance, definitions)
        keep(instance.caller_catalogs, key, catalog)
    end
  end

  defp keep(table, key, catalog) do
    if :ets.info(table, :size) >= @max_cached, do: :ets.delete_all_objects(table)
    :ets.insert(table, {key, catalog})
    catalog
  end

  # Definitions that do not compile are left out; what is left does.
  defp compile_sound(instance, definitions) do
    with {:error, faults} <- compile(instance, definitions) do
      log(Definition.native_faults(faults, definitions))
      faulty = MapSet.new(faults, &elem(&1, 0))
      compile(instance, Enum.reject(definitions, &(Definition.label(&1.key) in faulty)))
    end
  end

  defp compile(instance, definitions) do
    {native, numbers} = Handlers.assign(instance, definitions)

    with {:error, faults} <- Native.compile_catalog(instance.native, native) do
      Handlers.forget(instance, numbers)
      {:error, faults}
    end
  end

  defp log(faults) do
    for fault <- faults, do: Fault.log_text("left out: #{Error.fault(fault)}")
  end
end
