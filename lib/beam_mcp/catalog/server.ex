defmodule BeamMCP.Catalog.Server do
  @moduledoc false
  # Owns what is served: the definitions of the catalog module and those registered beside them.
  #
  # It has each change compiled, remembers it in tables that outlive it, and puts the snapshot into
  # the native instance. Nothing asks this process while calls run, so its crash costs nothing; a
  # new one goes on with the tables. It hibernates after each message: what is left of old catalogs on
  # its heap would keep them, and the handlers in them, alive.

  use GenServer

  alias BeamMCP.Catalog.{Definition, Difference, Handlers, Reader, Registry}
  alias BeamMCP.{Changes, Config, Error, Fault, Instance, Native}

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name), do: GenServer.start_link(__MODULE__, name)

  @doc "Asks the catalog module again. What was served stays when its answer is faulty."
  @spec reload(Instance.name()) :: :ok | {:error, Error.t()}
  def reload(name), do: call(name, :reload)

  @doc "Adds registered definitions, or puts them in the place of those with the same id."
  @spec register(Instance.name(), [Definition.t()]) :: :ok | {:error, Error.t()}
  def register(name, definitions), do: call(name, {:register, definitions})

  @doc "Makes `definitions` all that is registered."
  @spec replace(Instance.name(), [Definition.t()]) :: :ok | {:error, Error.t()}
  def replace(name, definitions), do: call(name, {:replace, definitions})

  @doc "Takes a registered definition away, and what it brought along."
  @spec unregister(Instance.name(), Definition.id()) ::
          :ok | {:error, :catalog | Definition.id() | nil}
  def unregister(name, id), do: call(name, {:unregister, id})

  @impl GenServer
  def init(name) do
    :ok = Instance.register(name, __MODULE__, nil)
    instance = Instance.fetch!(name)
    :ok = Native.own_catalog(instance.native, self())

    case start(instance, Registry.current(instance.definitions)) do
      :ok -> {:ok, instance, :hibernate}
      {:error, error} -> {:stop, error}
    end
  end

  @impl GenServer
  def handle_call(change, _from, instance) do
    {:reply, change(instance, change), instance, :hibernate}
  end

  @impl GenServer
  def handle_info({:beam_mcp, :released}, instance) do
    Handlers.collect(instance)
    {:noreply, instance, :hibernate}
  end

  def handle_info({:EXIT, _registry, _reason}, instance) do
    :ok = Instance.register(instance.name, __MODULE__, nil)
    {:noreply, instance, :hibernate}
  end

  defp change(instance, :reload),
    do: load(instance, {Registry.registered(instance.definitions), []})

  defp change(instance, {:register, definitions}), do: add(instance, definitions)
  defp change(instance, {:unregister, id}), do: remove(instance, id)

  defp change(instance, {:replace, definitions}),
    do: swap(instance, Registry.registered(instance.definitions), definitions)

  # The one before this may have ended between remembering a change and serving it.
  defp start(instance, {:ok, catalog}) do
    Handlers.collect(instance)
    Native.put_catalog(instance.native, catalog)
  end

  defp start(%{config: config} = instance, :none) do
    load(instance, Reader.registrations(config.registrations, Config.host(config)))
  end

  defp load(%{config: config} = instance, {registered, registered_faults}) do
    {declared, declared_faults} = declared(config)
    {definitions, doubled} = Definition.without_duplicates(declared ++ registered)
    faults = declared_faults ++ registered_faults ++ doubled

    case compile(instance, definitions, faults) do
      {:ok, catalog} ->
        changed = changed(instance, catalog)
        declared = Registry.declared(instance.definitions)
        serve(instance, catalog, declared, definitions, changed)

      {:error, faults} ->
        {:error, Error.catalog(faults)}
    end
  end

  defp declared(%{catalog: nil}), do: {[], []}

  defp declared(%{catalog: module} = config) do
    Reader.capabilities(module.capabilities(), Config.host(config))
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, "#{inspect(module)}.capabilities/0")
      message = Fault.describe(kind, reason, __STACKTRACE__)
      {[], [%{kind: :catalog, definition: "capabilities", place: "value", message: message}]}
  end

  # Compiles also when there are faults, so that a host learns of everything at once.
  defp compile(instance, definitions, faults) do
    {native, numbers} = Handlers.assign(instance, definitions)

    case {Native.compile_catalog(instance.native, native), faults} do
      {{:ok, catalog}, []} ->
        {:ok, catalog}

      {{:ok, _unserved}, faults} ->
        Handlers.forget(instance, numbers)
        {:error, faults}

      {{:error, more}, faults} ->
        Handlers.forget(instance, numbers)
        {:error, faults ++ Definition.native_faults(more, definitions)}
    end
  end

  defp add(instance, definitions) do
    owners = for definition <- definitions, do: {definition, owner(instance, definition)}

    case for({new, owner} <- owners, owner not in [nil, new.owner], do: taken(new, owner)) do
      [] -> edit(instance, stale_parts(instance, definitions), definitions)
      faults -> {:error, Error.catalog(faults)}
    end
  end

  # What a definition brought along before and does not any more.
  defp stale_parts(instance, definitions) do
    for definition <- definitions,
        id <- Registry.parts(instance.definitions, Definition.id(definition)),
        id not in definition.parts,
        do: id
  end

  defp swap(instance, registered, definitions) do
    case Difference.between(registered, definitions) do
      {[], []} -> :ok
      {deleted, put} -> exchange(instance, deleted, put)
    end
  end

  defp exchange(instance, deleted, put) do
    case for(new <- put, owner(instance, new) == :catalog, do: taken(new, :catalog)) do
      [] -> edit(instance, deleted, put)
      faults -> {:error, Error.catalog(faults)}
    end
  end

  defp remove(instance, id) do
    case Registry.owner(instance.definitions, id) do
      :registry -> edit(instance, [id | Registry.parts(instance.definitions, id)], [])
      owner -> {:error, owner}
    end
  end

  defp owner(instance, definition),
    do: Registry.owner(instance.definitions, Definition.id(definition))

  defp taken(%{kind: kind, key: key}, owner) do
    Definition.fault(kind, key, Definition.key_place(kind), taken_by(owner))
  end

  defp taken_by(:catalog), do: "is declared by the catalog module"
  defp taken_by(:registry), do: "is registered by itself"
  defp taken_by({kind, key}), do: "belongs to the #{kind} #{inspect(Definition.label(key))}"

  defp edit(instance, deleted, put) do
    {:ok, catalog} = Registry.current(instance.definitions)
    {native, numbers} = Handlers.assign(instance, put)
    deletions = for {kind, key} <- deleted, do: {:delete, kind, key}
    edits = deletions ++ for {kind, map} <- native, do: {:put, kind, map}

    case Native.edit_catalog(instance.native, catalog, edits) do
      {:ok, catalog, changed} ->
        serve(instance, catalog, deleted, put, changed)

      {:error, faults} ->
        Handlers.forget(instance, numbers)
        {:error, Error.catalog(Definition.native_faults(faults, put))}
    end
  end

  defp serve(instance, catalog, deleted, put, changed) do
    :ok = Registry.commit(instance.definitions, catalog, deleted, put)
    :ok = Native.put_catalog(instance.native, catalog)
    for list <- changed, do: Changes.publish(instance, list)
    :ok
  end

  # What is served first is no change. What depends on the caller may differ for any of them.
  defp changed(instance, catalog) do
    case {Registry.current(instance.definitions), Config.caller_catalog?(instance.config)} do
      {:none, _caller} -> []
      {_current, true} -> [:tools, :resources, :prompts]
      {{:ok, current}, false} -> Native.catalog_differences(current, catalog)
    end
  end

  defp call(name, request), do: GenServer.call(Instance.via(name, __MODULE__), request, :infinity)
end
