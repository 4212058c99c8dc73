defmodule BeamMCP.TaskStore do
  @moduledoc """
  Where tasks are kept: how far they are, and what came of them (MCP extension
  `io.modelcontextprotocol/tasks`).

  The option `task_store: {module, options}` names an implementation; the default,
  `BeamMCP.TaskStore.ETS`, keeps them in memory of one node. One that several nodes share lets
  every node answer for every task, and keeps results when the node that computed them is gone.

  A task is a map that the store keeps and gives back unchanged:

    * `id` - 256 random bits in URL-safe Base64, made by `new_id/0`
    * `principal` - bytes that stand for who began it, or `nil`; it is nobody else's
    * `status` - `:working`, `:input_required`, `:completed`, `:failed` or `:cancelled`; the last
      three never change again
    * `status_message` - a text for people, or `nil`
    * `created_ms`, `updated_ms` - Unix time
    * `ttl_ms` - how long it is kept, from `created_ms` on: a store forgets it then, and not before
    * `poll_interval_ms` - how often its client should ask
    * `detail` - a JSON text: what is asked, the result, or the error; else `nil`
    * `request_bytes` - how much of its request, and of its client's answers, its work may hold on to;
      0 when it has ended
    * `keeper` - the process that keeps it, which is gone when the task has ended, or was lost

  Ids that come from clients are strings of any kind; a store never turns them into atoms. Its
  functions run in the process of the request or of the task, within `hook_timeout_ms`; what they
  raise is answered with 503, or fails the task.
  """

  @typedoc "A task's id."
  @type id :: String.t()

  @typedoc "How far a task is."
  @type status :: :working | :input_required | :completed | :failed | :cancelled

  @typedoc "What is kept."
  @type task :: %{
          id: id(),
          principal: binary() | nil,
          status: status(),
          status_message: String.t() | nil,
          created_ms: integer(),
          updated_ms: integer(),
          ttl_ms: pos_integer(),
          poll_interval_ms: pos_integer(),
          detail: binary() | nil,
          request_bytes: non_neg_integer(),
          keeper: pid()
        }

  @typedoc """
  Whose tasks they are: the name of the instance, which shares none, or, for a store that says
  `c:shared?/0`, its `namespace`.
  """
  @type namespace :: term()

  @typedoc """
  What becomes of a task; `:ended` leaves it as it is. It has no effects, so a store may run it again.
  """
  @type change :: (task() -> {:ok, task()} | {:error, :ended})

  @typedoc "The store cannot be reached or has no majority; answered with 503 and not logged."
  @type unavailable :: {:error, :unavailable}

  @doc "Whether nodes of one `namespace` have the tasks of this store in common; without it they have not."
  @callback shared?() :: boolean()
  @optional_callbacks shared?: 0

  @doc "What the store runs under the instance's supervisor; the options come from the host."
  @callback child_spec({namespace(), options :: keyword()}) :: Supervisor.child_spec()

  @doc "Keeps a new task. `{:error, :full}` when a bound is reached."
  @callback create(namespace(), task()) :: :ok | {:error, :full} | unavailable()

  @doc "A task that is still kept."
  @callback fetch(namespace(), id()) :: {:ok, task()} | {:error, :unknown} | unavailable()

  @doc """
  Puts what `change` makes of a task in its place. Between reading and writing no other change
  happens to it. `{:error, :full}` when there is no room for what it has become; it is then as it
  was, as it is when `change` refuses.
  """
  @callback update(namespace(), id(), change()) ::
              {:ok, task()} | {:error, :unknown | :ended | :full} | unavailable()

  @doc "Forgets a task."
  @callback delete(namespace(), id()) :: :ok | {:error, :unknown} | unavailable()

  @doc "How many tasks are kept."
  @callback count(namespace()) :: non_neg_integer()

  @doc "An id of 256 random bits in URL-safe Base64."
  @spec new_id() :: id()
  def new_id, do: Base.url_encode64(:crypto.strong_rand_bytes(32), padding: false)

  @doc "Whether a task is over."
  @spec ended?(task()) :: boolean()
  def ended?(%{status: status}), do: status in [:completed, :failed, :cancelled]

  @doc "How many bytes of what peers and handlers say a task holds, for a bound in bytes."
  @spec bytes(task()) :: non_neg_integer()
  def bytes(task), do: task.request_bytes + size(task.detail) + size(task.status_message)

  defp size(nil), do: 0
  defp size(text), do: byte_size(text)
end
