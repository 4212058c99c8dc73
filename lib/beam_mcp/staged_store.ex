defmodule BeamMCP.StagedStore do
  @moduledoc """
  Where things wait that are used once: what a page will need that a user was sent to
  (`BeamMCP.Context.stage/4`), and with the option `single_use_state` the marks of request states.

  The option `staged_store: {module, options}` names an implementation; the default,
  `BeamMCP.StagedStore.ETS`, keeps them in memory of one node, `BeamMCP.StagedStore.Mnesia` on several.
  Its functions run in the process that needs them.

  An entry belongs to an owner, is open until it is taken, and is known as taken until it expires: an
  id that was used is not free again. Ids are strings that nobody can guess, made by this library.
  """

  alias BeamMCP.Instance

  @typedoc "What is kept: `data` is any term, `expires_ms` Unix time."
  @type entry :: %{owner: term(), data: term(), expires_ms: integer()}

  @typedoc "Whose entries they are, as of `BeamMCP.SessionStore`."
  @type namespace :: term()

  @typedoc "Names an entry."
  @type id :: String.t()

  @doc "What the store runs under the instance's supervisor; the options come from the host."
  @callback child_spec({namespace(), options :: keyword()}) :: Supervisor.child_spec()

  @doc "Whether instances of one `namespace` on several nodes have their entries in common."
  @callback shared?() :: boolean()
  @optional_callbacks shared?: 0

  @doc "Keeps an entry, unless there is or was one of this id."
  @callback put(namespace(), id(), entry()) :: :ok | {:error, :exists | :full | :unavailable}

  @doc "An entry that has not expired, and whether it was taken."
  @callback fetch(namespace(), id()) ::
              {:ok, entry(), :open | :taken} | {:error, :unknown | :unavailable}

  @doc "Takes an open entry of this owner: of several that try, one succeeds."
  @callback take(namespace(), id(), owner :: term()) ::
              {:ok, data :: term()} | {:error, :unknown | :unavailable}

  @doc false
  @spec put(Instance.t(), id(), entry()) :: :ok | {:error, :exists | :full | :unavailable}
  def put(%{staged: {store, namespace}}, id, entry), do: store.put(namespace, id, entry)

  @doc false
  @spec fetch(Instance.t(), id()) ::
          {:ok, entry(), :open | :taken} | {:error, :unknown | :unavailable}
  def fetch(%{staged: {store, namespace}}, id), do: store.fetch(namespace, id)

  @doc false
  @spec take(Instance.t(), id(), term()) :: {:ok, term()} | {:error, :unknown | :unavailable}
  def take(%{staged: {store, namespace}}, id, owner), do: store.take(namespace, id, owner)
end
