defmodule BeamMCP.Asking do
  @moduledoc false
  # Asks the client of a call, in the call's own process.
  #
  # Of a modern client the answers are there, or the handler's run ends here: what is thrown is
  # caught around the handler, and the native library answers with what was asked. The handler runs
  # again with the client's retry. A legacy client gets a request of its own, and the process waits.

  alias BeamMCP.{Context, Fault, InputRequest, Instance, Kind, Native, Note, Parked, Reply}
  alias BeamMCP.Tasks.{Begun, Keeper}

  @ended {__MODULE__, :ended}
  @thread {__MODULE__, :thread}

  @typedoc "What a client may be asked for."
  @type kind :: :form | :url | :sampling | :sampling_tools | :roots

  @kinds %{
    form: "elicitation.form",
    url: "elicitation.url",
    sampling: "sampling",
    sampling_tools: "sampling.tools",
    roots: "roots"
  }

  @doc "What a handler returns, or that it ended because of what it asked."
  defmacro guarded(do: run) do
    quote do
      try do
        unquote(run)
      catch
        :throw, unquote(@ended) -> unquote(@ended)
      end
    end
  end

  @doc "The answer for the native library that `answer` makes of what `guarded/1` gave."
  @spec answer(term(), (term() -> term())) :: term()
  def answer(@ended, _answer), do: {:asked, Note.encode(Note.new(Process.get(@thread)))}
  def answer(value, answer), do: answer.(value)

  @doc "Answers a call with it, unless the call goes on as a task, which is given back."
  @spec reply(Reply.to(), term(), (term() -> term()), offer :: {atom(), term()}) ::
          Begun.t() | :ok | :late | {:error, Native.reason()}
  def reply(_token, %Begun{} = begun, _answer, _offer), do: begun

  def reply(token, value, answer, offer) do
    answer = answer(value, answer)
    if answer == :failed, do: Fault.log_reason(Fault.place(offer), value)
    Reply.send(token, answer)
  end

  @doc "Ends the run: what it is for is over."
  @spec end_run() :: no_return()
  def end_run, do: throw(@ended)

  @doc "Asks all of `questions`; the answers, in their order."
  @spec ask(Context.t(), [{String.t() | nil, InputRequest.t()}], keyword()) :: [term()]
  def ask(context, questions, options) do
    [optional: optional?] = Keyword.validate!(options, optional: false)
    requests = for {key, request} <- questions, do: {key, wire(request)}
    instance = instance(context)

    answers =
      case put(instance, context, requests, optional?) do
        {:answers, answers} -> answers
        :waits -> await(instance.native, context.call)
        :busy -> List.duplicate(:busy, length(questions))
        :ends -> throw(@ended)
        :refused -> throw(@ended)
        :gone -> throw(@ended)
        :foreign -> raise ArgumentError, foreign()
        {:error, {_kind, text}} -> raise ArgumentError, text
      end

    for {{_key, request}, answer} <- Enum.zip(questions, answers), do: read(request, answer)
  end

  @doc "Names the conversation that a call is a round of; the same in all of them."
  @spec thread(Context.t()) :: String.t()
  def thread(context) do
    thread = Process.get(@thread) || noted_thread(context) || Note.random()
    Process.put(@thread, thread)
    thread
  end

  @doc "What the client brought along of the round before, and when that expires."
  @spec noted(Context.t()) :: {Note.t(), expires_ms :: integer()} | nil
  def noted(context) do
    with {text, expires_ms} when text != nil <- noted(instance(context), context.call),
         %Note{} = note <- Note.parse(text) do
      {note, expires_ms}
    else
      _none -> nil
    end
  end

  @doc "The note of a handler that waits at `place`."
  @spec parked_note({String.t(), String.t()}) :: String.t()
  def parked_note(place), do: Process.get(@thread) |> Note.new(place) |> Note.encode()

  @doc "Ends the run: the client is to send its request again."
  @spec retry_later(Context.t()) :: no_return()
  def retry_later(%{task: task}) when task != nil do
    raise ArgumentError, "a task has answered its request already: there is nothing to send again"
  end

  def retry_later(context) do
    [] = ask(context, [], [])
    throw(@ended)
  end

  @spec supports?(Context.t(), kind()) :: boolean()
  def supports?(%{task: %{job: job}}, kind) when is_map_key(@kinds, kind),
    do: Native.job_supports(job, @kinds[kind])

  def supports?(context, kind) when is_map_key(@kinds, kind) do
    case supported?(instance(context), context.call, @kinds[kind]) do
      :foreign -> raise ArgumentError, foreign()
      supports? -> supports?
    end
  end

  def supports?(_context, kind) do
    raise ArgumentError, "expected one of #{inspect(Map.keys(@kinds))}, got: #{inspect(kind)}"
  end

  @doc "The wire key of a question."
  @spec key!(term()) :: String.t() | nil
  def key!(key) when is_binary(key) or key == nil, do: key
  def key!(key) when is_atom(key), do: Atom.to_string(key)

  def key!(key) do
    raise ArgumentError,
          "expected a string or an atom as the key of a question, got #{Kind.of(key)}"
  end

  defp wire(%InputRequest{method: method, params: params}), do: %{method: method, params: params}

  defp wire(other) do
    raise ArgumentError, "expected a %BeamMCP.InputRequest{}, got #{Kind.of(other)}"
  end

  defp put(_instance, %{task: task}, requests, optional?) when task != nil,
    do: Keeper.ask(task, requests, optional?)

  defp put(instance, %{call: {:parked, _handler} = parked}, requests, optional?),
    do: Parked.ask(instance, parked, requests, optional?)

  defp put(instance, %{call: call}, requests, optional?),
    do: Native.ask(instance.native, call, requests, optional?)

  defp supported?(_instance, {:parked, _handler} = parked, kind),
    do: Parked.supports(parked, kind)

  defp supported?(instance, call, kind), do: Native.supports(instance.native, call, kind)

  defp noted(_instance, {:parked, _handler} = parked), do: Parked.noted(parked)
  defp noted(instance, call), do: Native.noted(instance.native, call)

  defp noted_thread(context) do
    with {note, _expires_ms} <- noted(context), do: note.thread
  end

  defp instance(context) do
    case Instance.fetch(context.instance) do
      {:ok, instance} -> instance
      {:error, _stopped} -> throw(@ended)
    end
  end

  # The deadline of the call cancels it, so that nothing waits for good.
  defp await(native, call) do
    receive do
      {:beam_mcp, :answered, ^call} -> Native.answers(native, call) || throw(@ended)
      {:beam_mcp, :cancel, ^call} -> throw(@ended)
    end
  end

  defp read(request, {:result, json}) do
    {:ok, result} = Native.decode(json)
    result(request.kind, result)
  end

  defp read(_request, {:error, code, message}), do: {:error, {:client, code, message}}
  defp read(_request, :undeclared), do: {:error, :not_supported}
  defp read(_request, reason), do: {:error, reason}

  defp result(:form, %{"action" => "accept", "content" => content}), do: {:accept, content}
  defp result(:url, %{"action" => "accept"}), do: {:accept, %{}}
  defp result(_elicitation, %{"action" => "decline"}), do: :decline
  defp result(_elicitation, %{"action" => "cancel"}), do: :cancel
  defp result(:roots, %{"roots" => roots}), do: {:ok, roots}
  defp result(:sampling, message), do: {:ok, message}

  defp foreign do
    "only the process that runs the handler of a tool, a prompt or a resource can ask its client"
  end
end
