defmodule BeamMCP.Catalog.Server do
  @moduledoc false
  # Reads the host's catalog, has it compiled and puts it into the native instance. Nothing asks
  # this process while calls run, so its crash costs nothing; it starts by reading again.

  use GenServer

  alias BeamMCP.Catalog.Definition
  alias BeamMCP.{Error, Fault, Instance, Native}

  @spec start_link(Instance.name()) :: GenServer.on_start()
  def start_link(name),
    do: GenServer.start_link(__MODULE__, name, name: Instance.via(name, __MODULE__))

  @doc "Reads again. The old catalog stays when the new one is faulty."
  @spec reload(Instance.name()) :: :ok | {:error, Error.t()}
  def reload(name), do: GenServer.call(Instance.via(name, __MODULE__), :reload, :infinity)

  @impl GenServer
  def init(name) do
    instance = Instance.fetch!(name)

    case load(instance) do
      :ok -> {:ok, instance}
      {:error, error} -> start_faulty(instance, error)
    end
  end

  @impl GenServer
  def handle_call(:reload, _from, instance), do: {:reply, load(instance), instance}

  # When this process was started again, tools are served already: they stay.
  defp start_faulty(instance, error) do
    if Native.info(instance.native).tools > 0 do
      Fault.log_text(
        "#{inspect(instance.name)} keeps its old catalog: #{Exception.message(error)}"
      )

      {:ok, instance}
    else
      {:stop, error}
    end
  end

  defp load(%{native: native, config: config}) do
    with {:ok, capabilities} <- capabilities(config.catalog),
         {definitions, []} <- Definition.read(capabilities, :atoms),
         {:ok, catalog} <- Native.compile_catalog(native, definitions) do
      Native.put_catalog(native, catalog)
    else
      {:error, faults} ->
        {:error, Error.catalog(Enum.map(faults, &fault/1))}

      {definitions, faults} ->
        {:error, Error.catalog(faults ++ schema_faults(native, definitions))}
    end
  end

  # So that a host learns of everything at once.
  defp schema_faults(native, definitions) do
    case Native.compile_catalog(native, definitions) do
      {:ok, _catalog} -> []
      {:error, faults} -> Enum.map(faults, &fault/1)
    end
  end

  defp capabilities(module) do
    {:ok, module.capabilities()}
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, "#{inspect(module)}.capabilities/0")
      {:error, [{"capabilities", "value", Fault.describe(kind, reason, __STACKTRACE__)}]}
  end

  defp fault({tool, place, message}), do: %{tool: tool, place: place, message: message}
end
