defmodule BeamMCP.Policy do
  @moduledoc false
  # What the host says of definitions (`authorize_definition`, `step_up`), asked in a process of the
  # question's own. Whatever is no clear yes denies.

  alias BeamMCP.{Context, Definition, Fault, Handler, Instance}

  @type offer :: {kind :: atom(), name :: String.t(), uri :: String.t() | nil}

  @type permission ::
          :permitted
          | :denied
          | {:step_up, acr_values :: [String.t()], max_age_s :: non_neg_integer() | nil}

  @spec permit(Instance.t(), offer(), boolean(), Context.t()) :: permission()
  def permit(%{config: config}, {kind, name, uri}, steps_up?, context) do
    definition = %Definition{kind: kind, name: name, uri: uri}

    cond do
      not authorized?(config.authorize_definition, context, definition) -> :denied
      steps_up? -> step_up(config.step_up, context, definition)
      true -> :permitted
    end
  end

  @doc "For each definition 1 where the caller may see it, else 0."
  @spec sift(Instance.t(), atom(), [String.t()], Context.t()) :: {:sifted, binary()}
  def sift(%{config: %{authorize_definition: hook}}, kind, names, context) do
    verdicts =
      for name <- names, into: <<>> do
        if authorized?(hook, context, %Definition{kind: kind, name: name}), do: <<1>>, else: <<0>>
      end

    {:sifted, verdicts}
  end

  defp authorized?(nil, _context, _definition), do: true

  defp authorized?(hook, context, definition),
    do: ask("authorize_definition", hook, context, definition) === {:answer, true}

  defp step_up(hook, context, definition) do
    case ask("step_up", hook, context, definition) do
      {:answer, :ok} -> :permitted
      {:answer, {:step_up, acr_values, max_age}} -> wanted(acr_values, max_age)
      {:answer, _other} -> nonsense()
      :raised -> :denied
    end
  end

  defp wanted(acr_values, max_age) do
    if is_list(acr_values) and not List.improper?(acr_values) and Enum.all?(acr_values, &acr?/1) and
         (max_age == nil or (is_integer(max_age) and max_age in 0..4_294_967_295)),
       do: {:step_up, acr_values, max_age},
       else: nonsense()
  end

  # What a challenge can list.
  defp acr?(acr), do: is_binary(acr) and acr =~ ~r/\A[\x21\x23-\x5B\x5D-\x7E]+\z/

  defp nonsense do
    Fault.log_text("step_up answered something else than :ok or {:step_up, acr_values, max_age}")
    :denied
  end

  defp ask(place, hook, context, definition) do
    {:answer, Handler.call(hook, [context, definition])}
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, place)
      :raised
  end
end
