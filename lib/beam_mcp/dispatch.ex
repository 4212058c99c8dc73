defmodule BeamMCP.Dispatch do
  @moduledoc false
  # Runs the host's function for one call, with what the host has around it, and answers.
  #
  # Calls that need none of this - a tool without a handler of its own, on an instance without
  # functions around handlers - stay in `BeamMCP.Call`.

  require BeamMCP.Asking

  alias BeamMCP.Catalog.Handlers
  alias BeamMCP.{Asking, Context, Fault, Handler, Instance, Native, Outcome, Reply, Report, Tasks}
  alias BeamMCP.Dispatch.{Around, Span}
  alias BeamMCP.Tasks.Begun

  @spec tool(Instance.t(), Reply.to(), Native.handler(), map(), Context.t()) :: :ok
  def tool(instance, token, number, arguments, context) when is_integer(number) do
    {name, handler} = Handlers.fetch!(instance, number)
    serve_tool(instance, token, name, handler, [arguments], context)
  end

  def tool(instance, token, name, arguments, context) do
    serve_tool(instance, token, name, instance.config.dispatch, [name, arguments], context)
  end

  defp serve_tool(instance, token, name, handler, arguments, context) do
    run = fn context ->
      handler |> Handler.call(arguments ++ [context]) |> Tasks.settle(instance, token, context)
    end

    serve(instance, token, {:tool, name}, context, run, &Outcome.answer/1)
  end

  @spec read(Instance.t(), Reply.to(), Native.handler(), String.t(), map(), Context.t()) ::
          :ok
  def read(instance, token, handler, uri, params, context) do
    {declared, run} =
      case own(instance, handler) do
        nil -> {handler, &instance.config.catalog.read_resource(uri, &1)}
        {name, own} -> {name, &Handler.call(own, [%{uri: uri, params: params}, &1])}
      end

    serve(instance, token, {:resource, uri}, declared, context, run, &Outcome.Read.answer/1)
  end

  @spec get_prompt(Instance.t(), Reply.to(), Native.handler(), String.t(), map(), Context.t()) ::
          :ok
  def get_prompt(instance, token, number, _name, arguments, context) when is_integer(number) do
    {name, handler} = Handlers.fetch!(instance, number)
    run = &Handler.call(handler, [%{name: name, arguments: arguments}, &1])
    serve(instance, token, {:prompt, name}, context, run, &Outcome.Prompt.answer/1)
  end

  def get_prompt(instance, token, declared, _name, arguments, context) do
    run = &instance.config.catalog.get_prompt(declared, arguments, &1)
    serve(instance, token, {:prompt, declared}, context, run, &Outcome.Prompt.answer/1)
  end

  @typedoc "What is to be completed: `{ref, argument, value, resolved arguments}`."
  @type completed ::
          {{:prompt | :resource, String.t()}, String.t(), String.t(), %{String.t() => String.t()}}

  @spec complete(Instance.t(), Reply.to(), Native.handler(), completed(), Context.t()) :: :ok
  def complete(instance, token, handler, {ref, argument, value, resolved}, context) do
    run =
      case own(instance, handler) do
        nil ->
          argument = %{name: argument, value: value, arguments: resolved}
          &instance.config.catalog.complete(ref, argument, &1)

        {_name, own} ->
          asked = %{ref: ref, argument: argument, value: value, context: %{arguments: resolved}}
          &Handler.call(own, [asked, &1])
      end

    serve(instance, token, {:completion, ref}, context, run, &Outcome.Completion.answer/1)
  end

  defp own(instance, number) when is_integer(number), do: Handlers.fetch!(instance, number)

  defp own(_instance, _declared), do: nil

  defp serve(instance, token, {_kind, name} = offer, context, run, answer),
    do: serve(instance, token, offer, name, context, run, answer)

  defp serve(instance, token, {kind, _asked} = offer, declared, context, run, answer) do
    case Around.prepare(instance.around, context) do
      {:ok, context, metadata} ->
        guarded = fn -> Asking.guarded(do: run.(context)) end
        value = fn -> Span.run(instance, {kind, declared}, context, metadata, guarded) end
        reply = &Asking.reply(token, &1, answer, offer)
        answer(instance, token, offer, context, fn -> reply.(value.()) end)

      :failed ->
        reply(token, :failed)
    end
  end

  defp answer(instance, token, offer, context, run) do
    run.()
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, Fault.place(offer))
      reply(token, :failed)
      report(instance, offer, context, {kind, reason, __STACKTRACE__})
  else
    {:error, {_kind, text}} ->
      text = "#{Fault.place(offer)} returned what cannot be sent: #{text}"
      Fault.log_text(text)
      reply(token, :failed)
      report(instance, offer, context, {:error, ArgumentError.exception(text), []})

    %Begun{} = begun ->
      Tasks.go_on(instance, token, begun, offer)

    _answered_or_late ->
      :ok
  end

  @doc "Tells the host's reporter what a handler failed with."
  @spec report(Instance.t(), tuple(), Context.t(), {atom(), term(), Exception.stacktrace()}) ::
          :ok
  def report(instance, offer, context, {kind, reason, stacktrace}) do
    Around.report(instance.around, %Report{
      kind: kind,
      reason: reason,
      stacktrace: stacktrace,
      offer: offer,
      context: context
    })
  end

  # `:failed` can always be sent; late is no fault.
  defp reply(token, answer) do
    Reply.send(token, answer)
    :ok
  end
end
