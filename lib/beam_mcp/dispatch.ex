defmodule BeamMCP.Dispatch do
  @moduledoc false
  # Runs the host's function for one call, with what the host has around it, and answers.
  #
  # Calls that need none of this - a tool without a handler of its own, on an instance without
  # functions around handlers - stay in `BeamMCP.Call`.

  require BeamMCP.Asking

  alias BeamMCP.Catalog.Handlers

  alias BeamMCP.{
    Asking,
    Context,
    Fault,
    Handler,
    Instance,
    Native,
    Outcome,
    Reply,
    Report,
    Telemetry
  }

  alias BeamMCP.Dispatch.Around

  @spec tool(Instance.t(), Reply.to(), Native.handler(), map(), Context.t()) :: :ok
  def tool(instance, token, number, arguments, context) when is_integer(number) do
    {name, handler} = Handlers.fetch!(instance, number)
    run = &Handler.call(handler, [arguments, &1])
    serve(instance, token, {:tool, name}, context, run, &Outcome.answer/1)
  end

  def tool(instance, token, name, arguments, context) do
    run = &Handler.call(instance.config.dispatch, [name, arguments, &1])
    serve(instance, token, {:tool, name}, context, run, &Outcome.answer/1)
  end

  @spec read(Instance.t(), Reply.to(), Native.handler(), String.t(), map(), Context.t()) ::
          :ok
  def read(instance, token, handler, uri, params, context) do
    run =
      case own(instance, handler) do
        nil -> &instance.config.catalog.read_resource(uri, &1)
        own -> &Handler.call(own, [%{uri: uri, params: params}, &1])
      end

    serve(instance, token, {:resource, uri}, context, run, &Outcome.Read.answer/1)
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

        own ->
          asked = %{ref: ref, argument: argument, value: value, context: %{arguments: resolved}}
          &Handler.call(own, [asked, &1])
      end

    serve(instance, token, {:completion, ref}, context, run, &Outcome.Completion.answer/1)
  end

  defp own(instance, number) when is_integer(number) do
    {_name, handler} = Handlers.fetch!(instance, number)
    handler
  end

  defp own(_instance, _declared), do: nil

  defp serve(instance, token, offer, context, run, answer) do
    case Around.prepare(instance.around, context) do
      {:ok, context, metadata} ->
        value = fn -> observed(instance, offer, context, metadata, run) end
        answer(instance, token, offer, context, fn -> outcome(offer, value.(), answer) end)

      :failed ->
        reply(token, :failed)
    end
  end

  defp observed(%{telemetry?: false}, _offer, context, _metadata, run) do
    Asking.guarded(do: run.(context))
  end

  defp observed(_instance, offer, context, metadata, run) do
    Telemetry.dispatch(offer, context, metadata, fn -> Asking.guarded(do: run.(context)) end)
  end

  defp outcome(offer, value, answer) do
    answer = Asking.answer(value, answer)
    if answer == :failed, do: Fault.log_reason(place(offer), value)
    answer
  end

  defp answer(instance, token, offer, context, run) do
    Reply.send(token, run.())
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, place(offer))
      reply(token, :failed)
      report(instance, offer, context, {kind, reason, __STACKTRACE__})
  else
    {:error, {_kind, text}} ->
      text = "#{place(offer)} returned what cannot be sent: #{text}"
      Fault.log_text(text)
      reply(token, :failed)
      report(instance, offer, context, {:error, ArgumentError.exception(text), []})

    _answered_or_late ->
      :ok
  end

  defp report(instance, offer, context, {kind, reason, stacktrace}) do
    Around.report(instance.around, %Report{
      kind: kind,
      reason: reason,
      stacktrace: stacktrace,
      offer: offer,
      context: context
    })
  end

  defp place({kind, name}), do: "#{kind} #{inspect(name)}"

  # `:failed` can always be sent; late is no fault.
  defp reply(token, answer) do
    Reply.send(token, answer)
    :ok
  end
end
