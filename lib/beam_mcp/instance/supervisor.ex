defmodule BeamMCP.Instance.Supervisor do
  @moduledoc false
  # One instance:
  #
  #     Owner          native instance, persistent term
  #     services       one_for_one: what they lose by a crash is theirs alone, since the catalog
  #                    snapshot and the calls in flight live in the native instance
  #       SessionStore
  #       TaskStore
  #       StagedStore
  #       ReplayStore
  #       Changes
  #       Relay
  #       Parking
  #       Keepers      one_for_one, one for each task that is worked on
  #       Catalog.Server
  #       Audit        where the host has one
  #       Events
  #       OAuth.Keys   one for each listener that fetches keys
  #       OAuth.Introspection  one for each listener that asks about tokens
  #       dispatchers  one_for_one
  #     listeners      one_for_one
  #     Drain          last to start, so first to stop: nothing else stops before it has drained

  use Supervisor

  alias BeamMCP.{
    Audit,
    Catalog,
    Changes,
    Config,
    Dispatcher,
    Events,
    Instance,
    OAuth,
    Parking,
    Relay
  }

  alias BeamMCP.Tasks.Keepers
  alias BeamMCP.Transport.HTTP

  # A host may kill dispatchers, and a fault that kills one may come with every request: calls
  # fail one by one, and the instance stays.
  @dispatcher_restarts [max_restarts: 1_000, max_seconds: 1]

  # The Registry refuses a second instance of a name; one that was killed has forgotten the first.
  @spec start_link(Config.t()) :: Supervisor.on_start()
  def start_link(config) do
    with {:ok, %{supervisor: running}} <- Instance.fetch(config.name),
         true <- Process.alive?(running) do
      {:error, {:already_started, running}}
    else
      _none ->
        Supervisor.start_link(__MODULE__, config, name: Instance.via(config.name, :supervisor))
    end
  end

  @impl Supervisor
  def init(config) do
    children = [
      {Instance.Owner, config},
      branch(:services, services(config), max_restarts: 100, max_seconds: 5),
      branch(:listeners, listeners(config), max_restarts: 100, max_seconds: 5),
      {Instance.Drain, config}
    ]

    Supervisor.init(children, strategy: :rest_for_one)
  end

  defp services(config) do
    {_store, _namespace, session_store} = config.session_store
    {_store, _namespace, task_store} = config.task_store
    {_store, _namespace, staged_store} = config.staged_store
    {_store, _namespace, replay_store} = config.replay_store

    [
      session_store,
      task_store,
      staged_store,
      replay_store,
      {Changes, config.name},
      {Relay, config.name},
      {Parking, config.name},
      {Keepers, config.name},
      {Catalog.Server, config.name}
    ] ++
      audit(config) ++
      [
        {Events, config.name},
        branch(:dispatchers, dispatchers(config), @dispatcher_restarts)
      ] ++ keys(config)
  end

  defp audit(%{audit: nil}), do: []
  defp audit(config), do: [{Audit, config}]

  defp keys(config) do
    for {%{authorize: %OAuth{} = oauth}, index} <- Enum.with_index(config.http),
        module <- OAuth.processes(oauth),
        do: Supervisor.child_spec({module, {config.name, index, oauth}}, id: {module, index})
  end

  defp dispatchers(config) do
    for index <- 1..config.dispatchers do
      Supervisor.child_spec({Dispatcher, config.name}, id: {Dispatcher, index})
    end
  end

  defp listeners(config) do
    for {http, index} <- Enum.with_index(config.http) do
      Supervisor.child_spec({HTTP.Server, {config.name, http, index}}, id: {HTTP.Server, index})
    end
  end

  defp branch(id, children, restarts) do
    %{
      id: id,
      type: :supervisor,
      start: {Supervisor, :start_link, [children, [strategy: :one_for_one] ++ restarts]}
    }
  end
end
