defmodule BeamMCP.Test do
  @moduledoc """
  Tests what an application offers, in memory: a client that speaks the protocol with the real
  core, without a socket or a program to start.

      defmodule MyApp.MCPTest do
        use ExUnit.Case, async: true

        setup do
          {:ok, client: BeamMCP.Test.start!(catalog: MyApp.Catalog, dispatch: &MyApp.Tools.call/3)}
        end

        test "reads the temperature", %{client: client} do
          assert {:ok, %{"structuredContent" => %{"celsius" => 21}}} =
                   BeamMCP.Test.call_tool(client, "get_weather", %{place: "Oslo"})
        end
      end

  Names, arguments and results take the whole way: they are checked against schemas, run by the
  dispatchers in a process for each call, and written as JSON. Only the transport is another one,
  that of stdio with the client's process at its other end. So `context.transport` is `:stdio`, and
  what HTTP adds (`authorize`, headers, sessions, status codes) is tested over a listener.

  ## Answers

  Every function that asks something returns `{:ok, result}`, where `result` is as on the wire, a
  map with string keys, or `{:error, %{code: code, message: message, data: data}}`, a JSON-RPC
  error. Without an answer in `timeout_ms`, and when the instance has stopped, it raises.

  ## Progress, log messages and other notifications

  They come as messages `{:mcp, client, method, params}` to the process that connected the client,
  those of a request before the function returns its answer:

      assert {:ok, _result} = BeamMCP.Test.call_tool(client, "import")
      assert_received {:mcp, ^client, "notifications/progress", %{"progress" => 1}}

  `progress/1`, `logs/1` and `notifications/1` take them out of the mailbox as lists.

  Changes that `listen/2` asked to hear of come the same way:

      {:ok, _listening} = BeamMCP.Test.listen(client, [:tools, "file:///logs"])
      :ok = BeamMCP.notify_changed(client.instance, :tools)
      assert_receive {:mcp, ^client, "notifications/tools/list_changed", _params}

  ## Answers to what handlers ask

  A handler that asks its client (`BeamMCP.Context.elicit/4` and the like) is answered by the
  function that `answer_with/2` was given, in every revision:

      BeamMCP.Test.answer_with(client, fn
        "elicitation/create", %{"message" => "Delete" <> _what} -> {:accept, %{sure: true}}
        "elicitation/create", _params -> :decline
        "roots/list", _params -> {:ok, %{roots: []}}
      end)

  What it may return is `t:told/0`. The capabilities of the client are an option of its own; without
  them nobody asks. Until there is a function, a 2026 client returns the `input_required` result as it
  is, and a 2025 client refuses the request.

  ## Processes

  A client ends with the process that connected it and with its instance; clients do not disturb
  each other, so tests may be `async: true`. The process of each call has `$callers`, so mocks and
  database sandboxes of the test's process are found there.

  ## Options of a client

  #{BeamMCP.Options.docs(:test)}
  """

  alias BeamMCP.{Instance, Options}
  alias BeamMCP.Test.{Answer, Client, Peer, Request}

  # As many as clients of the protocol play before they give up.
  @max_rounds 10

  @typedoc "A JSON-RPC error."
  @type error :: %{code: integer(), message: String.t(), data: term()}

  @typedoc "The answer to a request: its result with string keys, or a JSON-RPC error."
  @type answer :: {:ok, map()} | {:error, error()}

  @typedoc "A request that `send_request/4` sent."
  @opaque request :: Request.t()

  @typedoc """
  Options of one request: `:timeout_ms` in place of the client's, and `:meta`, a map of more
  entries for the request's `_meta`.
  """
  @type request_options :: [timeout_ms: pos_integer(), meta: map()]

  @doc """
  Starts an instance with a name of its own, linked to the caller, and connects a client.

  `instance` are options of `BeamMCP`, `client` those of a client. Both end with the calling
  process, so a test need not stop them.

      client = BeamMCP.Test.start!([catalog: MyApp.Catalog], revision: "2025-06-18")

  Raises `ArgumentError` for a wrong option and `BeamMCP.Error` for a faulty catalog.
  """
  @spec start!(keyword(), keyword()) :: Client.t()
  def start!(instance, client \\ []) do
    name = {__MODULE__, make_ref()}
    own = [name: name, secrets: [:crypto.strong_rand_bytes(32)]]

    case BeamMCP.start_link(Keyword.merge(own, instance)) do
      {:ok, _supervisor} -> connect!(Keyword.get(instance, :name, name), client)
      {:error, error} -> raise error
    end
  end

  @doc """
  Connects a client to an instance that runs, for example under `start_supervised!/1`.

  With a revision of 2025 it initializes, and sets the log level when the client names one. Raises
  `ArgumentError` for a wrong option and `BeamMCP.Error` when no such instance runs.
  """
  @spec connect!(BeamMCP.name(), keyword()) :: Client.t()
  def connect!(name, options \\ []) do
    settings = Options.validate!(:test, options)

    case Instance.fetch(name) do
      {:ok, instance} -> connected(instance, settings)
      {:error, error} -> raise error
    end
  end

  @doc """
  Ends the connection, as a client does that goes away: its calls are cancelled.
  """
  @spec close(Client.t()) :: :ok
  def close(client), do: ask(client, &GenServer.stop/1)

  @doc """
  What the server answered to `initialize` when the client connected. A 2026-07-28 client asks
  here, and is refused: it uses `discover/1`.
  """
  @spec initialize(Client.t()) :: answer()
  def initialize(client) do
    case ask(client, &Peer.next/1) do
      {_id, %{handshake: result}} -> {:ok, result}
      {_id, settings} -> request(client, "initialize", hello(settings))
    end
  end

  @doc "Asks what the server is and can do (`server/discover`, 2026-07-28)."
  @spec discover(Client.t()) :: answer()
  def discover(client), do: request(client, "server/discover")

  @doc "Asks for a sign of life; revisions of 2025 only."
  @spec ping(Client.t()) :: answer()
  def ping(client), do: request(client, "ping")

  @doc """
  Reads log messages from `level` on, from the next request on.

  A client of 2025 tells the server (`logging/setLevel`), a 2026-07-28 client says so with each
  request.
  """
  @spec set_log_level(Client.t(), atom() | String.t()) :: answer()
  def set_log_level(client, level) do
    if Request.modern?(client) do
      ask(client, &Peer.set(&1, :log_level, level))
      {:ok, %{}}
    else
      request(client, "logging/setLevel", %{level: level})
    end
  end

  @doc "All tools, of all pages."
  @spec list_tools(Client.t()) :: {:ok, [map()]} | {:error, error()}
  def list_tools(client), do: list(client, "tools/list", "tools")

  @doc "All resources, of all pages."
  @spec list_resources(Client.t()) :: {:ok, [map()]} | {:error, error()}
  def list_resources(client), do: list(client, "resources/list", "resources")

  @doc "All resource templates, of all pages."
  @spec list_templates(Client.t()) :: {:ok, [map()]} | {:error, error()}
  def list_templates(client), do: list(client, "resources/templates/list", "resourceTemplates")

  @doc "All prompts, of all pages."
  @spec list_prompts(Client.t()) :: {:ok, [map()]} | {:error, error()}
  def list_prompts(client), do: list(client, "prompts/list", "prompts")

  @doc """
  Calls a tool. The arguments are any term that JSON can say, with atom or string keys.

  A tool that fails, and arguments that its schema refuses, are a result with `"isError" => true`.
  """
  @spec call_tool(Client.t(), String.t() | atom(), map(), request_options()) :: answer()
  def call_tool(client, name, arguments \\ %{}, options \\ []) do
    request(client, "tools/call", %{name: name, arguments: arguments}, options)
  end

  @doc "Reads a resource."
  @spec read_resource(Client.t(), String.t(), request_options()) :: answer()
  def read_resource(client, uri, options \\ []) do
    request(client, "resources/read", %{uri: uri}, options)
  end

  @doc "Fills in a prompt. The values of its arguments are strings."
  @spec get_prompt(Client.t(), String.t() | atom(), map(), request_options()) :: answer()
  def get_prompt(client, name, arguments \\ %{}, options \\ []) do
    request(client, "prompts/get", %{name: name, arguments: arguments}, options)
  end

  @doc """
  Completes what was typed of an argument of a prompt or of a variable of a template.

  `resolved` are the arguments that have a value already.

      BeamMCP.Test.complete(client, {:prompt, "review", "language"}, "el")
      BeamMCP.Test.complete(client, {:resource, "notes:{year}/{id}", "id"}, "1", %{year: "2026"})
  """
  @spec complete(
          Client.t(),
          {:prompt | :resource, String.t() | atom(), argument :: String.t() | atom()},
          String.t(),
          map(),
          request_options()
        ) :: answer()
  def complete(client, {kind, key, argument}, value, resolved \\ %{}, options \\ []) do
    params = %{
      ref: ref(kind, key),
      argument: %{name: argument, value: value},
      context: %{arguments: resolved}
    }

    request(client, "completion/complete", params, options)
  end

  @doc "Sends any request and waits for its answer."
  @spec request(Client.t(), String.t(), map(), request_options()) :: answer()
  def request(client, method, params \\ %{}, options \\ []) do
    client |> send_request(method, params, options) |> await()
  end

  @doc """
  Sends any request and does not wait: for requests that run side by side, and for those that are
  cancelled.

      request = BeamMCP.Test.send_request(client, "tools/call", %{name: "export"})
      :ok = BeamMCP.Test.cancel(request)
      :cancelled = BeamMCP.Test.await(request)
  """
  @spec send_request(Client.t(), String.t(), map(), request_options()) :: request()
  def send_request(client, method, params \\ %{}, options \\ []),
    do: send_by(&Peer.send_request/3, client, method, params, options)

  defp send_by(send, client, method, params, options) do
    options = Options.only!(options, [:timeout_ms, :meta])
    {id, settings} = ask(client, &Peer.next/1)
    meta = Map.merge(Request.meta(settings, id), Keyword.get(options, :meta, %{}))
    message = %{id: id, method: method, params: Map.put(params, :_meta, meta)}
    line = Request.line(message)
    ask(client, &send.(&1, id, line))
    timeout_ms = Keyword.get(options, :timeout_ms, settings.timeout_ms)

    %Request{
      client: client,
      id: id,
      method: method,
      params: params,
      options: options,
      answer: settings.answer,
      timeout_ms: timeout_ms
    }
  end

  @doc """
  Waits for the answer to a request that was sent; `:cancelled` when it was cancelled before there
  was one. Each answer can be had once. With `answer_with/2` it plays the rounds of a handler that
  asks, at most #{@max_rounds}; then it raises.
  """
  @spec await(request()) :: answer() | :cancelled
  def await(%Request{} = request), do: await(request, @max_rounds)

  defp await(request, rounds) do
    case ask(request.client, &Peer.await(&1, request.id, request.timeout_ms), request) do
      :taken -> raise ArgumentError, "the answer to this #{request.method} was taken before"
      {:ok, %{"resultType" => "input_required"} = result} -> play_on(request, result, rounds)
      answer -> answer
    end
  end

  defp play_on(%{answer: nil}, result, _rounds), do: {:ok, result}

  defp play_on(request, _result, 0) do
    raise "#{request.method} asked for more than #{@max_rounds} rounds of answers"
  end

  defp play_on(request, result, rounds) do
    params = Map.merge(request.params, Answer.retry(result, request.answer))
    request.client |> send_request(request.method, params, request.options) |> await(rounds - 1)
  end

  @doc "Cancels a request that was sent."
  @spec cancel(request(), String.t() | nil) :: :ok
  def cancel(%Request{} = request, reason \\ nil) do
    params =
      if reason, do: %{requestId: request.id, reason: reason}, else: %{requestId: request.id}

    line = Request.line(%{method: "notifications/cancelled", params: params})
    ask(request.client, &Peer.cancel(&1, request.id, line))
  end

  @typedoc """
  What a client says when it is asked: the user's answer to a form or a visit; a whole result; or an
  error, which a 2026 client has no word for and leaves the answer out.
  """
  @type told ::
          {:accept, map()}
          | :accept
          | :decline
          | :cancel
          | {:ok, map()}
          | {:error, {integer(), String.t()}}

  @doc """
  Answers what handlers ask from now on. `fun` gets method and parameters, with string keys. It runs
  in a process of the client's for revisions of 2025, in the one that awaits the request else.
  """
  @spec answer_with(Client.t(), (String.t(), map() -> told())) :: :ok
  def answer_with(client, fun) when is_function(fun, 2),
    do: ask(client, &Peer.set(&1, :answer, fun))

  @typedoc "What `listen/2` began."
  @opaque listening :: {Client.t(), request() | [String.t()]}

  @doc """
  Hears of changes from now on: of the lists `:tools`, `:resources` and `:prompts`, and of resources
  by their URIs. Returns once the server has agreed; what it does not offer it leaves out.

  A 2026-07-28 client opens a stream (`subscriptions/listen`), a client of 2025 subscribes to the
  resources (`resources/subscribe`) and hears of every list without asking.
  """
  @spec listen(Client.t(), [:tools | :resources | :prompts | String.t()]) ::
          {:ok, listening()} | {:error, error()}
  def listen(client, changes) do
    {lists, uris} = Enum.split_with(changes, &is_atom/1)

    if Request.modern?(client) do
      listen_by_stream(client, lists, uris)
    else
      with :ok <- each(uris, &request(client, "resources/subscribe", %{uri: &1})),
           do: {:ok, {client, uris}}
    end
  end

  defp listen_by_stream(client, lists, uris) do
    filter = Map.new(lists, &{"#{&1}ListChanged", true})
    filter = if uris == [], do: filter, else: Map.put(filter, "resourceSubscriptions", uris)
    params = %{notifications: filter}
    request = send_by(&Peer.send_listen/3, client, "subscriptions/listen", params, [])
    await = &Peer.await_begin(&1, request.id, request.timeout_ms)

    with {:ok, _honoured} <- ask(client, await, request), do: {:ok, {client, request}}
  end

  @doc """
  Hears of the changes that `listen/2` asked for no more; a client of 2025 still hears of lists.
  """
  @spec stop_listening(listening()) :: :ok | {:error, error()}
  def stop_listening({_client, %Request{} = request}), do: cancel(request)

  def stop_listening({client, uris}),
    do: each(uris, &request(client, "resources/unsubscribe", %{uri: &1}))

  defp each(items, request) do
    Enum.reduce_while(items, :ok, fn item, :ok ->
      case request.(item) do
        {:ok, _empty} -> {:cont, :ok}
        error -> {:halt, error}
      end
    end)
  end

  @doc "Sends any notification."
  @spec notify(Client.t(), String.t(), map()) :: :ok
  def notify(client, method, params \\ %{}) do
    line = Request.line(%{method: method, params: params})
    ask(client, &Peer.send_line(&1, line))
  end

  @doc "Takes the progress that the calling process was told of by this client, in order."
  @spec progress(Client.t()) :: [map()]
  def progress(client), do: take(client, "notifications/progress")

  @doc "Takes the log messages that the calling process was sent by this client, in order."
  @spec logs(Client.t()) :: [map()]
  def logs(client), do: take(client, "notifications/message")

  @doc "Takes every notification that the calling process was sent by this client, in order."
  @spec notifications(Client.t()) :: [{method :: String.t(), params :: map() | nil}]
  def notifications(client) do
    receive do
      {:mcp, ^client, method, params} -> [{method, params} | notifications(client)]
    after
      0 -> []
    end
  end

  defp take(client, method) do
    receive do
      {:mcp, ^client, ^method, params} -> [params | take(client, method)]
    after
      0 -> []
    end
  end

  defp connected(instance, settings) do
    {:ok, pid} = Peer.start_link(instance, settings)
    client = %Client{pid: pid, instance: instance.name, revision: settings.revision}
    unless Request.modern?(client), do: shake_hands(client, settings)
    client
  end

  # MCP 2025-11-25 basic/lifecycle.
  defp shake_hands(client, %{revision: revision} = settings) do
    {:ok, %{"protocolVersion" => ^revision} = result} =
      request(client, "initialize", hello(settings))

    :ok = ask(client, &Peer.set(&1, :handshake, result))
    :ok = notify(client, "notifications/initialized")
    if settings.log_level, do: {:ok, _empty} = set_log_level(client, settings.log_level)
  end

  defp hello(settings) do
    %{
      protocolVersion: settings.revision,
      clientInfo: settings.client_info,
      capabilities: settings.capabilities
    }
  end

  defp ref(:prompt, name), do: %{type: "ref/prompt", name: name}
  defp ref(:resource, uri), do: %{type: "ref/resource", uri: uri}

  defp list(client, method, key, params \\ %{}) do
    with {:ok, %{^key => items} = page} <- request(client, method, params),
         {:ok, more} <- next_page(client, method, key, page) do
      {:ok, items ++ more}
    end
  end

  defp next_page(client, method, key, %{"nextCursor" => cursor}),
    do: list(client, method, key, %{cursor: cursor})

  defp next_page(_client, _method, _key, _last), do: {:ok, []}

  defp ask(client, question, request \\ nil) do
    question.(client.pid)
  catch
    :exit, {:timeout, _call} ->
      raise "no answer to #{request.method} within #{request.timeout_ms} ms"

    :exit, _ended ->
      raise "the client has ended: it was closed, or its instance has stopped"
  end
end
