defmodule BeamMCP.Call do
  @moduledoc false
  # What the process of one call does: take the token, run what the call is about, answer.
  #
  # Whatever the host's code does is caught here and answered; a kill is left to the dispatcher.

  require BeamMCP.Asking

  alias BeamMCP.{
    Asking,
    Cancellation,
    Changes,
    Dispatch,
    Fault,
    Hook,
    Instance,
    Native,
    OAuth,
    Outcome,
    SessionStore
  }

  alias BeamMCP.Catalog.Caller
  alias BeamMCP.Telemetry

  @doc "The body of the process."
  @spec run(Instance.name(), Native.call()) :: :ok
  def run(name, call) do
    instance = Instance.fetch!(name)

    case Native.accept(instance.native, call) do
      {:call, token, handler, arguments, context}
      when is_integer(handler) or instance.around != nil ->
        Dispatch.tool(instance, token, handler, arguments, own(context, name))

      {:call, token, tool, arguments, context} ->
        call_tool(instance, token, tool, arguments, own(context, name))

      {:read, token, handler, uri, params, context} ->
        Dispatch.read(instance, token, handler, uri, params, own(context, name))

      {:get_prompt, token, handler, prompt, arguments, context} ->
        Dispatch.get_prompt(instance, token, handler, prompt, arguments, own(context, name))

      {:complete, token, handler, ref, argument, value, resolved, context} ->
        asked = {ref, argument, value, resolved}
        Dispatch.complete(instance, token, handler, asked, own(context, name))

      {:authorize, token, hook, request} ->
        reply(token, Hook.authorize(instance, hook, request))

      {:keys, token, hook, issuer} ->
        reply(token, OAuth.Keys.refresh(name, hook, issuer))

      {:settle, token, hook, request, facts, replay} ->
        reply(token, OAuth.Settling.answer(instance, hook, request, facts, replay))

      {:authorize_body, token, hook, request, body} ->
        reply(token, Hook.authorize_body(instance, hook, request, body))

      {:session, token, question} ->
        answer = SessionStore.answer(instance.sessions, question)
        tell(instance, question, answer)
        reply(token, answer)

      {:catalog, token, context} ->
        reply(token, Caller.answer(instance, own(context, name)))

      :gone ->
        :ok
    end
  end

  @doc "Tells a call's process, and its `on_cancel` functions, that nobody waits for it any more."
  @spec tell_cancelled(Instance.name(), Native.call(), pid()) :: :ok
  def tell_cancelled(name, call, pid) do
    # In this order: a process that ends at the message takes its functions along.
    Cancellation.run(name, call)
    send(pid, {:beam_mcp, :cancel, call})
    :ok
  end

  # A client of `BeamMCP.Test` says for whom it asks, so that mocks and sandboxes of a test's process
  # are found in this one.
  defp own(%{sender: {BeamMCP.Test, callers}} = context, name) do
    Process.put(:"$callers", callers)
    %{context | instance: name, sender: nil}
  end

  defp own(context, name), do: %{context | instance: name}

  # The stream of a session may be on any node.
  defp tell(instance, {kind, _session, _uri} = question, :updated)
       when kind in [:subscribe, :unsubscribe],
       do: Changes.publish(instance, question)

  defp tell(instance, {:delete, _session} = question, :deleted),
    do: Changes.publish(instance, question)

  defp tell(_instance, _question, _answer), do: :ok

  defp call_tool(instance, token, tool, arguments, context) do
    value = run_tool(instance, tool, arguments, context)
    Native.reply(token, Asking.answer(value, &Outcome.answer/1))
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, "tool #{inspect(tool)}")
      reply(token, :failed)
  else
    {:error, {_kind, text}} ->
      Fault.log_text("tool #{inspect(tool)} returned what cannot be sent: #{text}")
      reply(token, :failed)

    _answered_or_late ->
      :ok
  end

  defp run_tool(%{telemetry?: false} = instance, tool, arguments, context) do
    Asking.guarded(do: dispatch(instance.config.dispatch, tool, arguments, context))
  end

  defp run_tool(instance, tool, arguments, context) do
    Telemetry.dispatch({:tool, tool}, context, %{}, fn ->
      Asking.guarded(do: dispatch(instance.config.dispatch, tool, arguments, context))
    end)
  end

  defp dispatch({:fun, fun, 3}, tool, arguments, context), do: fun.(tool, arguments, context)
  defp dispatch({:fun, fun, 2}, tool, arguments, _context), do: fun.(tool, arguments)

  defp dispatch({:mfa, module, function, extra, 3}, tool, arguments, context) do
    apply(module, function, [tool, arguments, context | extra])
  end

  defp dispatch({:mfa, module, function, extra, 2}, tool, arguments, _context) do
    apply(module, function, [tool, arguments | extra])
  end

  # `:late` is no fault: the caller has gone or its deadline has passed.
  defp reply(token, answer) do
    with {:error, {_kind, text}} <- Native.reply(token, answer) do
      Fault.log_text("a hook or store answered what cannot be sent: #{text}")
      Native.reply(token, :failed)
    end

    :ok
  end
end
