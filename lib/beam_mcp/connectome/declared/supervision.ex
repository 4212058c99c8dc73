defmodule BeamMCP.Connectome.Declared.Supervision do
  @moduledoc false
  # Whom supervisors start, from the child specifications that their `init/1` returns. A supervisor
  # that is only a list of children, written into another one's specification, counts as that one.

  alias BeamMCP.Connectome.Fields

  @type child :: {supervisor :: mfa(), start :: mfa()}

  @doc "Runs `init/1` of each; the children of all, in order."
  @spec read([{module(), term()}]) ::
          {:ok, [child()]} | {:error, {:invalid, :supervisors, {module(), term()}}}
  def read(supervisors) do
    Enum.reduce_while(supervisors, {:ok, []}, fn {module, argument}, {:ok, children} ->
      case children(module, argument) do
        {:ok, more} ->
          {:cont, {:ok, children ++ for(start <- more, do: {{module, :init, 1}, start})}}

        refusal ->
          {:halt, refusal}
      end
    end)
  end

  defp children(module, argument) do
    case module.init(argument) do
      {:ok, {_flags, specs}} when is_list(specs) -> {:ok, Enum.flat_map(specs, &starts/1)}
      other -> Fields.that(false, :supervisors, {module, other})
    end
  rescue
    error -> Fields.that(false, :supervisors, {module, error.__struct__})
  end

  defp starts({_id, start, _restart, _shutdown, _type, _modules}), do: starts(%{start: start})

  defp starts(%{start: {Supervisor, :start_link, [children, _options]}}) when is_list(children) do
    Enum.flat_map(children, &(&1 |> Supervisor.child_spec([]) |> starts()))
  end

  defp starts(%{start: {module, function, arguments}}),
    do: [{module, function, length(arguments)}]
end
