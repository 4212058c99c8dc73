defmodule BeamMCP.Catalog.Caller do
  @moduledoc false
  # The catalog as one caller sees it (`capabilities/1`), asked for by a request that needs it.
  # Compiled catalogs are kept by content, so that callers who see the same share one.

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.{Context, Fault, Instance, Native}

  # Entries; a full cache is emptied.
  @max_cached 1_000

  @spec answer(Instance.t(), Context.t()) :: {:catalog, Native.catalog()} | :failed
  def answer(instance, context) do
    {definitions, faults} =
      Definition.read(instance.config.catalog.capabilities(context), :strings)

    log(faults)
    {:catalog, cached(instance, definitions)}
  catch
    kind, reason ->
      Fault.log(
        kind,
        reason,
        __STACKTRACE__,
        "#{inspect(instance.config.catalog)}.capabilities/1"
      )

      :failed
  end

  defp cached(instance, definitions) do
    key = :crypto.hash(:sha256, :erlang.term_to_binary(definitions, [:deterministic]))

    case :ets.lookup(instance.caller_catalogs, key) do
      [{^key, catalog}] ->
        catalog

      [] ->
        {:ok, catalog} = compile(instance.native, definitions)
        keep(instance.caller_catalogs, key, catalog)
    end
  end

  defp keep(table, key, catalog) do
    if :ets.info(table, :size) >= @max_cached, do: :ets.delete_all_objects(table)
    :ets.insert(table, {key, catalog})
    catalog
  end

  # Definitions that do not compile are left out; what is left does.
  defp compile(native, definitions) do
    with {:error, faults} <- Native.compile_catalog(native, definitions) do
      log(for {tool, place, message} <- faults, do: %{tool: tool, place: place, message: message})
      faulty = MapSet.new(faults, &elem(&1, 0))
      Native.compile_catalog(native, Enum.reject(definitions, &(&1.name in faulty)))
    end
  end

  defp log(faults) do
    for fault <- faults do
      Fault.log_text("tool #{inspect(fault.tool)} is left out, #{fault.place}: #{fault.message}")
    end
  end
end
