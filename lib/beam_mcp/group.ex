defmodule BeamMCP.Group do
  @moduledoc false
  # The processes of one role that instances of one namespace have, on every connected node (`:pg`).

  alias BeamMCP.Instance

  @scope BeamMCP.Groups

  # How long after the scope's end, which loses the groups, they are joined again.
  @rejoin_ms 100

  @doc "The `:pg` scope of all instances of this node."
  @spec scope() :: Supervisor.child_spec()
  def scope, do: %{id: @scope, start: {:pg, :start_link, [@scope]}}

  @doc """
  Makes the calling process a member. When the scope has ended it gets a `:DOWN`, and calls
  `rejoin/0`.
  """
  @spec join(Instance.t(), term()) :: :ok
  def join(instance, role) do
    Process.monitor(@scope)
    :pg.join(@scope, name(instance, role), self())
  catch
    # There is no scope yet, which the monitor tells.
    :exit, _no_scope -> :ok
  end

  @doc "Has the calling process told `:join` when it is time to join again."
  @spec rejoin() :: :ok
  def rejoin do
    Process.send_after(self(), :join, @rejoin_ms)
    :ok
  end

  @doc "The members on all nodes."
  @spec members(Instance.t(), term()) :: [pid()]
  def members(instance, role) do
    :pg.get_members(@scope, name(instance, role))
  rescue
    # There is no scope yet: its members join when there is.
    ArgumentError -> []
  end

  defp name(instance, role), do: {role, instance.config.namespace}
end
