defmodule BeamMCP.Call do
  @moduledoc false
  # What the process of one call does: take the token, run what the call is about, answer.
  #
  # Whatever the host's code does is caught here and answered; a kill is left to the dispatcher.

  require BeamMCP.Asking

  alias BeamMCP.{
    Asking,
    Attendant,
    Cancellation,
    Changes,
    Context,
    Dispatch,
    Fault,
    Hook,
    Instance,
    Native,
    OAuth,
    Outcome,
    Policy,
    Relay,
    Reply,
    SessionStore,
    SingleUse,
    Tasks
  }

  alias BeamMCP.Catalog.Caller
  alias BeamMCP.Dispatch.Span
  alias BeamMCP.Tasks.Begun

  # A 2026 client comes back with its answers in another call (MCP 2026-07-28 basic/patterns/mrtr);
  # one of the others answers this one, whose process can wait itself.
  @in_rounds "2026-07-28"

  @doc "The body of the process."
  @spec run(Instance.name(), Native.call()) :: :ok
  def run(name, call) do
    instance = Instance.fetch!(name)
    question = Native.accept(instance.native, call, name)

    case SingleUse.claim(instance, question) do
      :ok -> serve(question, instance)
      refusal -> reply(elem(question, 1), refusal)
    end
  end

  @doc "Answers what a call asks."
  @spec serve(Native.question(), Instance.t()) :: :ok
  def serve(question, instance) do
    case question do
      {:call, token, {:park, handler}, arguments, context} ->
        park({:call, token, handler, arguments, context}, context, instance)

      {:read, token, {:park, handler}, uri, params, context} ->
        park({:read, token, handler, uri, params, context}, context, instance)

      {:get_prompt, token, {:park, handler}, prompt, arguments, context} ->
        park({:get_prompt, token, handler, prompt, arguments, context}, context, instance)

      {:call, token, handler, arguments, context}
      when is_integer(handler) or instance.around != nil ->
        Dispatch.tool(instance, token, handler, arguments, own(context))

      {:call, token, tool, arguments, context} ->
        call_tool(instance, token, tool, arguments, own(context))

      {:read, token, handler, uri, params, context} ->
        Dispatch.read(instance, token, handler, uri, params, own(context))

      {:get_prompt, token, handler, prompt, arguments, context} ->
        Dispatch.get_prompt(instance, token, handler, prompt, arguments, own(context))

      {:complete, token, handler, ref, argument, value, resolved, context} ->
        asked = {ref, argument, value, resolved}
        Dispatch.complete(instance, token, handler, asked, own(context))

      {:authorize, token, hook, request} ->
        reply(token, Hook.authorize(instance, hook, request))

      {:keys, token, hook, issuer} ->
        reply(token, OAuth.Keys.refresh(instance.name, hook, issuer))

      {:introspect, token, hook, digest, inquiry} ->
        reply(token, OAuth.Introspection.ask(instance.name, hook, digest, inquiry))

      {:settle, token, hook, request, facts, replay, inquiry} ->
        reply(token, OAuth.Settling.answer(instance, hook, request, facts, replay, inquiry))

      {:authorize_body, token, hook, request, body} ->
        reply(token, Hook.authorize_body(instance, hook, request, body))

      {:session, token, question} ->
        answer = SessionStore.answer(instance.sessions, question)
        tell(instance, question, answer)
        reply(token, answer)

      {:task, token, question} ->
        reply(token, Tasks.answer(instance, question))

      {:relay, token, session, message} ->
        Relay.tell(instance, session, message)
        reply(token, :ok)

      {:permit, token, offer, steps_up?, context} ->
        reply(token, Policy.permit(instance, offer, steps_up?, own(context)))

      {:sift, token, kind, names, context} ->
        reply(token, Policy.sift(instance, kind, names, own(context)))

      {:catalog, token, context} ->
        reply(token, Caller.answer(instance, own(context)))

      :gone ->
        :ok
    end
  end

  defp park(question, %{revision: @in_rounds}, instance), do: Attendant.serve(question, instance)
  defp park(question, _context, instance), do: serve(question, instance)

  @doc "Tells a call's or a task's process, and its `on_cancel` functions, that nobody waits for it any more."
  @spec tell_cancelled(Instance.name(), Context.call() | {:task, String.t()}, pid()) :: :ok
  def tell_cancelled(name, call, pid) do
    # In this order: a process that ends at the message takes its functions along.
    Cancellation.run(name, call)
    send(pid, {:beam_mcp, :cancel, call})
    :ok
  end

  # A client inside the VM names its callers (`BeamMCP.Identity`).
  defp own(%{sender: {:callers, callers}} = context) do
    Process.put(:"$callers", callers)
    %{context | sender: nil}
  end

  defp own(context), do: context

  # The stream of a session may be on any node.
  defp tell(instance, {kind, _session, _uri} = question, :updated)
       when kind in [:subscribe, :unsubscribe],
       do: Changes.publish(instance, question)

  defp tell(instance, {:delete, _session} = question, :deleted),
    do: Changes.publish(instance, question)

  defp tell(_instance, _question, _answer), do: :ok

  defp call_tool(instance, token, tool, arguments, context) do
    value = run_tool(instance, token, tool, arguments, context)
    Asking.reply(token, value, &Outcome.answer/1, {:tool, tool})
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, Fault.place({:tool, tool}))
      reply(token, :failed)
  else
    {:error, {_kind, text}} ->
      Fault.log_text("#{Fault.place({:tool, tool})} returned what cannot be sent: #{text}")
      reply(token, :failed)

    %Begun{} = begun ->
      Tasks.go_on(instance, token, begun, {:tool, tool})

    _answered_or_late ->
      :ok
  end

  defp run_tool(instance, token, tool, arguments, context) do
    Span.run(instance, {:tool, tool}, context, %{}, fn ->
      Asking.guarded(do: settled(instance, token, tool, arguments, context))
    end)
  end

  defp settled(instance, token, tool, arguments, context) do
    instance.config.dispatch
    |> dispatch(tool, arguments, context)
    |> Tasks.settle(instance, token, context)
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
    with {:error, {_kind, text}} <- Reply.send(token, answer) do
      Fault.log_text("a hook or store answered what cannot be sent: #{text}")
      Reply.send(token, :failed)
    end

    :ok
  end
end
