defmodule BeamMCP.Hook do
  @moduledoc false
  # Runs the hooks of a listener and turns their answers into the native library's: the principal
  # as bytes to compare, the identity as bytes that come back with each call of the caller.

  require Logger

  alias BeamMCP.{Fault, Identity, Instance, Request}

  @type answer ::
          :accept
          | {:accept, principal :: binary(), identity :: binary(), scopes :: [String.t()] | nil}
          | :deny
          | {:challenge, String.t()}
          | :failed

  @spec authorize(Instance.t(), non_neg_integer(), Request.t()) :: answer()
  def authorize(instance, number, request) do
    case hooks(instance, number) do
      {authorize, _body} -> run("authorize", authorize, [request], &authorized/1)
      nil -> :failed
    end
  end

  @spec authorize_body(Instance.t(), non_neg_integer(), Request.t(), binary()) :: answer()
  def authorize_body(instance, number, request, body) do
    case hooks(instance, number) do
      {_authorize, hook} -> run("authorize_body", hook, [request, body], &body_authorized/1)
      nil -> :failed
    end
  end

  # A listener that closed meanwhile has none.
  defp hooks(instance, number) do
    case :ets.lookup(instance.hooks, number) do
      [{^number, authorize, authorize_body}] -> {authorize, authorize_body}
      [] -> nil
    end
  end

  defp run(place, hook, arguments, read) do
    read.(apply_hook(hook, arguments))
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, place)
      :failed
  end

  defp apply_hook(fun, arguments) when is_function(fun), do: apply(fun, arguments)

  defp apply_hook({module, function, extra}, arguments),
    do: apply(module, function, arguments ++ extra)

  defp authorized(:ok), do: :accept
  defp authorized({:ok, principal}), do: accept(principal, nil)

  defp authorized({:ok, principal, scopes}) when is_list(scopes) do
    if Enum.all?(scopes, &is_binary/1), do: accept(principal, scopes), else: other("authorize")
  end

  defp authorized({:error, {:unauthenticated, challenge}}) when is_binary(challenge) do
    if challenge =~ ~r/\A[\x20-\x7E]+\z/ do
      {:challenge, challenge}
    else
      Fault.log_text("authorize answered a challenge that no header can hold: visible ASCII only")
      :failed
    end
  end

  defp authorized({:error, reason}), do: deny("authorize", reason)
  defp authorized(_other), do: other("authorize")

  defp body_authorized(:ok), do: :accept
  defp body_authorized({:error, reason}), do: deny("authorize_body", reason)
  defp body_authorized(_other), do: other("authorize_body")

  defp accept(principal, scopes) do
    {compared, identity} = Identity.encode(principal, scopes)
    {:accept, compared, identity, scopes}
  end

  defp deny(place, reason) do
    Logger.info(fn ->
      "[BeamMCP] #{place} refused a request: #{Fault.show(reason)}"
    end)

    :deny
  end

  defp other(place) do
    Fault.log_text("#{place} answered something else than :ok, {:ok, ..} or {:error, ..}")
    :failed
  end
end
