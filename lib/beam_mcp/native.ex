defmodule BeamMCP.Native do
  @moduledoc """
  The native library, function by function.

  The processes of an instance use it; a host needs it only to open a listener outside an
  instance's own supervision tree, with `start_http/1`. Every function returns at once: what takes
  time comes back as a message, and what costs more than a scheduler should give runs on a dirty
  scheduler.
  """

  alias BeamMCP.{Config, Context, Error, Instance, Listener, NIF, OAuth, Outcome, TLS}
  alias BeamMCP.Encoder.Walk

  @typedoc "One instance inside the native library."
  @type instance :: reference()

  @typedoc "Compiled definitions."
  @type catalog :: reference()

  @typedoc "Answers one call, once. Only the call's process holds it."
  @type token :: reference()

  @typedoc "What checks the access tokens of a listener."
  @type guard :: reference()

  @typedoc "An access token on its way to its issuer; nothing shows it."
  @type inquiry :: reference()

  @typedoc "The TLS of a listener."
  @type tls :: reference()

  @typedoc "Authorities whose certificates a fetch believes."
  @type trust :: reference()

  @typedoc "A private key by which this server says who it is; nothing shows it."
  @type client_key :: reference()

  @typedoc "One HTTP listener."
  @type listener :: reference()

  @typedoc "One stdio transport."
  @type pipe :: reference()

  @typedoc "The number of a call."
  @type call :: non_neg_integer()

  @typedoc "Why something was refused: a kind to match on and a text for people."
  @type reason :: {atom(), String.t()}

  @typedoc "A definition, name or schema at fault: `{tool, place, message}`."
  @type compile_fault :: {String.t(), String.t(), String.t()}

  @typedoc "A kind, and what is compiled."
  @type definition :: {:tool | :resource | :template | :prompt | :completion, map()}

  @typedoc "One change of a catalog; keys are names, URIs, URI templates, or `{ref, argument}`."
  @type edit :: {:put, atom(), map()} | {:delete, atom(), term()}

  @typedoc "The number of a host's function, or what the host declared."
  @type handler :: non_neg_integer() | atom() | binary()

  @typedoc "The work of a task."
  @type job :: reference()

  @typedoc "What an accepted call is about."
  @type question ::
          {:call, token(), handler(), map(), BeamMCP.Context.t()}
          | {:read, token(), handler(), uri :: String.t(), params :: map(), BeamMCP.Context.t()}
          | {:get_prompt, token(), handler(), name :: String.t(), map(), BeamMCP.Context.t()}
          | {:complete, token(), handler(), {:prompt | :resource, String.t()},
             argument :: String.t(), value :: String.t(), resolved :: map(), BeamMCP.Context.t()}
          | {:authorize, token(), non_neg_integer(), BeamMCP.Request.t()}
          | {:keys, token(), non_neg_integer(), issuer :: non_neg_integer()}
          | {:introspect, token(), non_neg_integer(), digest :: binary(), inquiry()}
          | {:settle, token(), non_neg_integer(), BeamMCP.Request.t(), facts :: map(),
             {replay_key :: String.t(), ttl_s :: pos_integer()} | nil,
             {digest :: binary(), inquiry()} | nil}
          | {:authorize_body, token(), non_neg_integer(), BeamMCP.Request.t(), binary()}
          | {:session, token(), BeamMCP.SessionStore.question()}
          | {:task, token(), BeamMCP.Tasks.question()}
          | {:relay, token(), session :: String.t(), message :: binary()}
          | {:permit, token(), BeamMCP.Policy.offer(), steps_up? :: boolean(),
             BeamMCP.Context.t()}
          | {:sift, token(), kind :: atom(), names :: [String.t()], BeamMCP.Context.t()}
          | {:catalog, token(), BeamMCP.Context.t()}
          | :gone

  @doc """
  Opens an HTTP listener on a running instance.

  Takes `:instance` (the instance's name, default `BeamMCP`) and the options of
  `BeamMCP.Transport.HTTP`. The listener belongs to the calling process: it closes when that
  process ends, or with `stop_http/1`. `BeamMCP.info/1` does not list it and `BeamMCP.drain/2` does
  not drain it.

  Returns `{:error, error}` with kind `:not_running` or `:listen`; raises `ArgumentError` for a
  wrong option.
  """
  @spec start_http(keyword()) :: {:ok, Listener.t()} | {:error, Error.t()}
  def start_http(options) do
    {name, options} = Keyword.pop(options, :instance, BeamMCP)
    http = Config.listener!(options)

    with {:ok, runtime} <- Instance.fetch(name) do
      hook = Instance.add_hooks(runtime, http)
      start_keys(name, hook, http.authorize)
      open_apart(runtime, http, hook)
    end
  end

  @doc false
  @spec check_scopes(map()) :: :ok | {:error, reason()}
  def check_scopes(options), do: NIF.scopes_check(options)

  @doc false
  @spec check_networks([String.t()]) :: :ok | {:error, reason()}
  def check_networks(networks), do: NIF.networks_check(networks)

  @doc false
  @spec set_keys(guard(), non_neg_integer(), binary() | nil) ::
          {:ok, non_neg_integer()} | {:error, reason()}
  def set_keys(guard, issuer, jwks), do: NIF.guard_keys(guard, issuer, jwks)

  @doc false
  @spec fetch(String.t(), boolean(), trust() | nil, pid(), term()) :: :ok
  def fetch(url, allow_private?, trust, pid, ref),
    do: NIF.fetch(url, allow_private?, trust, pid, ref)

  @doc false
  @spec trust(String.t()) :: {:ok, trust()} | {:error, reason()}
  def trust(cacertfile), do: NIF.trust_new(cacertfile)

  @doc false
  @spec client_key(binary(), String.t() | nil, String.t() | nil) ::
          {:ok, client_key()} | {:error, reason()}
  def client_key(pem, algorithm, kid), do: NIF.client_key_new(pem, algorithm, kid)

  @doc false
  @spec tls(map()) :: {:ok, tls()} | {:error, reason()}
  def tls(options), do: NIF.tls_new(options)

  @doc false
  @spec read_tls_again(tls()) :: :ok | {:error, reason()}
  def read_tls_again(tls), do: NIF.tls_reload(tls)

  @doc false
  # `pid` gets `{:beam_mcp, :introspected, ref, :ok | {:error, text}}`.
  @spec introspect(guard(), inquiry(), pid(), term()) :: :ok
  def introspect(guard, inquiry, pid, ref), do: NIF.introspect(guard, inquiry, pid, ref)

  @doc false
  # What the issuer said of a token, as long as that counts.
  @spec introspected(guard(), inquiry()) :: :active | {:refused, String.t()} | :unknown
  def introspected(guard, inquiry), do: NIF.introspected(guard, inquiry)

  @doc false
  @spec guard(map()) :: {:ok, guard()} | {:error, reason()}
  def guard(options), do: NIF.guard_new(options)

  @doc false
  @spec open(instance(), Config.listener(), non_neg_integer()) ::
          {:ok, Listener.t()} | {:error, Error.t()}
  def open(instance, http, hook) do
    case NIF.http_start(instance, Config.native_listener(http, hook), self()) do
      {:ok, resource, address} -> {:ok, Listener.new(resource, address, http)}
      {:error, reason} -> {:error, Error.listen(http.bind, reason)}
    end
  end

  @doc "Closes a listener and its connections at once."
  @spec stop_http(Listener.t()) :: :ok
  def stop_http(listener), do: NIF.http_stop(listener.resource)

  @doc "Reads the certificate and key of a listener again, as `BeamMCP.reload_tls/1` does."
  @spec reload_tls(Listener.t()) :: :ok | {:error, Error.t()}
  def reload_tls(listener), do: TLS.reload(listener.tls, listener.address)

  @doc """
  Stops accepting; `pid` then gets `{:beam_mcp, :drained, ref, left}` when the last connection
  has ended or `timeout_ms` has passed, with the number of connections that were cut.
  """
  @spec drain_http(Listener.t(), pid(), reference(), non_neg_integer()) :: :ok
  def drain_http(listener, pid, ref, timeout_ms) do
    NIF.http_drain(listener.resource, pid, ref, timeout_ms)
  end

  @doc false
  @spec new_instance(map()) :: {:ok, instance()} | {:error, reason()}
  def new_instance(config), do: NIF.instance_new(config)

  @doc false
  @spec compile_catalog(instance(), [definition()]) ::
          {:ok, catalog()} | {:error, [compile_fault()]}
  def compile_catalog(instance, definitions), do: NIF.catalog_compile(instance, definitions)

  @doc """
  A catalog with the edits made, one after the other, and the lists in which clients see something
  else; or everything wrong, and none is made. What is put under a key that is there takes its place.
  """
  @spec edit_catalog(instance(), catalog(), [edit()]) ::
          {:ok, catalog(), [:tools | :resources | :prompts]}
          | {:error, [compile_fault()]}
  def edit_catalog(instance, catalog, edits), do: NIF.catalog_edit(instance, catalog, edits)

  @doc "The lists that two catalogs serve differently."
  @spec catalog_differences(catalog(), catalog()) :: [:tools | :resources | :prompts]
  def catalog_differences(catalog, other), do: NIF.catalog_differences(catalog, other)

  @doc "Serves `catalog` from now on; calls in flight keep theirs."
  @spec put_catalog(instance(), catalog()) :: :ok
  def put_catalog(instance, catalog), do: NIF.catalog_put(instance, catalog)

  @doc """
  Has `pid` told by `{:beam_mcp, :released}` that `released_handlers/2` has numbers for it. When
  there are some already, it is told at once.
  """
  @spec own_catalog(instance(), pid()) :: :ok
  def own_catalog(instance, pid), do: NIF.catalog_owner(instance, pid)

  @doc "Numbers of handlers whose last snapshot and last call have ended, at most `max`, each once."
  @spec released_handlers(instance(), pos_integer()) :: [non_neg_integer()]
  def released_handlers(instance, max), do: NIF.catalog_released(instance, max)

  @doc "SHA-256 over the definitions as served, in hexadecimal."
  @spec catalog_digest(instance()) :: String.t()
  def catalog_digest(instance), do: NIF.catalog_digest(instance)

  @doc "The same of each definition, by list."
  @spec catalog_digests(catalog()) :: %{
          digest: String.t(),
          tools: [{String.t(), String.t()}],
          resources: [{String.t(), String.t()}],
          templates: [{String.t(), String.t()}],
          prompts: [{String.t(), String.t()}]
        }
  def catalog_digests(catalog), do: NIF.catalog_digests(catalog)

  @doc false
  @spec add_dispatcher(instance(), pid()) :: :ok
  def add_dispatcher(instance, pid), do: NIF.dispatcher_add(instance, pid)

  @doc false
  @spec send_events_to(instance(), pid()) :: :ok
  def send_events_to(instance, pid), do: NIF.events_to(instance, pid)

  @doc false
  @spec events(instance(), pos_integer()) :: {[{atom(), map(), map()}], non_neg_integer()}
  def events(instance, max), do: NIF.events(instance, max)

  @doc false
  @spec start_stdio(instance(), map()) :: {:ok, pipe()} | {:error, reason()}
  def start_stdio(instance, options), do: NIF.stdio_start(instance, options, self())

  @doc false
  @spec stdio_line(pipe(), binary()) :: :ok | :busy
  def stdio_line(pipe, line), do: NIF.stdio_line(pipe, line)

  @doc false
  @spec stdio_written(pipe()) :: :ok
  def stdio_written(pipe), do: NIF.stdio_written(pipe)

  @doc false
  @spec close_stdio(pipe()) :: :ok
  def close_stdio(pipe), do: NIF.stdio_close(pipe)

  @doc """
  Takes a call over into the calling process: its token, and the arguments and context built on
  this process's heap. `name` is the instance's, which the context tells of.
  """
  @spec accept(instance(), call(), BeamMCP.name()) :: question()
  def accept(instance, call, name) do
    case NIF.accept(instance, call) do
      :large -> instance |> NIF.accept_large(call) |> with_context(name)
      question -> with_context(question, name)
    end
  end

  @doc """
  Answers a call. `:late` when it was answered, cancelled or timed out before.

  A term that is expensive to encode is encoded on a dirty scheduler; structs in it go through
  `BeamMCP.Encoder` first, whose exceptions come through.
  """
  @spec reply(token(), term()) :: :ok | :late | {:error, reason()}
  def reply(token, answer) do
    case reply_once(token, answer) do
      :prepare -> token |> reply_once(Outcome.prepare(answer)) |> prepared()
      result -> result
    end
  end

  @doc false
  @spec workers(instance()) :: [pid()]
  def workers(instance), do: NIF.workers(instance)

  @doc false
  @spec cancelled?(instance(), call()) :: boolean()
  def cancelled?(instance, call), do: NIF.cancelled(instance, call)

  @typedoc "What a call tells its client before its answer; JSON values are texts of `encode/1`."
  @type notice ::
          {:progress, number(), number() | nil, String.t() | nil}
          | {:log, String.t(), String.t() | nil, binary()}
          | {:notification, String.t(), binary() | nil}
          | :break

  @doc false
  @spec notify(instance(), call(), notice()) ::
          :ok | {:error, :busy | :not_increasing | :not_supported}
  def notify(instance, call, notice), do: NIF.notify(instance, call, notice)

  @typedoc "A question of a call: the host's key for it or `nil`, and `%{method: .., params: ..}`."
  @type input_question :: {String.t() | nil, map()}

  @typedoc "What a client answered."
  @type input_answer ::
          {:result, json :: binary()}
          | {:error, code :: integer(), message :: String.t()}
          | :malformed
          | :undeclared

  @doc false
  @spec ask(instance(), call(), [input_question()], boolean()) ::
          {:answers, [input_answer()]}
          | :ends
          | :refused
          | :waits
          | :busy
          | :gone
          | :foreign
          | {:error, reason()}
  def ask(instance, call, questions, optional?) do
    case NIF.ask(instance, call, questions, optional?) do
      :prepare -> prepared(NIF.ask(instance, call, prepare(questions), optional?))
      result -> result
    end
  end

  @doc false
  @spec answers(instance(), call()) :: [input_answer()] | nil
  def answers(instance, call), do: NIF.answers(instance, call)

  @doc false
  @spec supports(instance(), call(), String.t()) :: boolean() | :foreign
  def supports(instance, call, kind), do: NIF.supports(instance, call, kind)

  @doc """
  Makes a task of the call that the token answers: its work, and the size of its request. `:inline`
  when the client takes no tasks, `:forbidden` when the tool does not, `:gone` when nobody waits.
  """
  @spec new_job(instance(), token()) ::
          {:ok, job(), non_neg_integer()} | :inline | :forbidden | :gone
  def new_job(instance, token), do: NIF.job_new(instance, token)

  @typedoc """
  What comes of a question of a task: all answers, the JSON text of what is still to be answered, or
  of the error of a client that cannot be asked.
  """
  @type job_asked :: {:answers, [input_answer()]} | {:open, binary()} | {:lacks, binary()}

  @doc false
  @spec job_ask(job(), [input_question()], boolean()) :: job_asked() | {:error, reason()}
  def job_ask(job, questions, optional?) do
    case NIF.job_ask(job, questions, optional?) do
      :prepare -> prepared(NIF.job_ask(job, prepare(questions), optional?))
      result -> result
    end
  end

  @doc "Takes responses: what is to be done now, and how many bytes of answers were kept of them."
  @spec job_hear(job(), [{String.t(), json :: binary()}]) :: {job_asked(), non_neg_integer()}
  def job_hear(job, responses), do: NIF.job_hear(job, responses)

  @doc false
  @spec job_supports(job(), String.t()) :: boolean()
  def job_supports(job, kind), do: NIF.job_supports(job, kind)

  @doc "What a task becomes by the answer of its work, as a JSON text, and what the host did wrong."
  @spec job_end(job(), term()) ::
          {:completed, binary(), String.t() | nil} | {:error, reason()}
  def job_end(job, answer) do
    case NIF.job_end(job, answer) do
      :prepare -> prepared(NIF.job_end(job, Outcome.prepare(answer)))
      result -> result
    end
  end

  @doc false
  @spec restart(instance(), call()) :: :ok
  def restart(instance, call), do: NIF.restart(instance, call)

  @doc false
  @spec noted(instance(), call()) :: {note :: String.t() | nil, expires_ms :: integer()} | nil
  def noted(instance, call), do: NIF.noted(instance, call)

  @doc "Has the call of this node that a session's message is for cancelled or answered, if there is one."
  @spec relayed(instance(), session :: String.t(), message :: binary()) :: :ok
  def relayed(instance, session, message), do: NIF.relayed(instance, session, message)

  @typedoc """
  What clients hear of: a list that changed, a resource that changed (itself, or as part of another),
  a task that is further on, or what a session wants to hear of.
  """
  @type change ::
          :tools
          | :resources
          | :prompts
          | {:resource, uri :: String.t(), within :: String.t() | nil}
          | {:subscribe | :unsubscribe, session :: String.t(), uri :: String.t()}
          | {:delete, session :: String.t()}
          | {:task, BeamMCP.TaskStore.id()}

  @doc "Tells the clients of this node; takes time in proportion to their subscriptions."
  @spec publish(instance(), change()) :: :ok | {:error, reason()}
  def publish(instance, change), do: NIF.publish(instance, change)

  @doc false
  @spec info(instance()) :: map()
  def info(instance), do: NIF.info(instance)

  @doc """
  The JSON text of a term, by the rules that results follow.

  Returns `{:error, {kind, text}}` for a term that JSON cannot say: a pid, a tuple, bytes that
  are not UTF-8, two keys that become equal.
  """
  @spec encode(term()) :: {:ok, binary()} | {:error, reason()}
  def encode(term) do
    case encode_once(term) do
      :prepare -> term |> Walk.prepare() |> encode_once() |> prepared()
      result -> result
    end
  end

  @doc """
  The term of a JSON text, by the rules that arguments follow: maps with string keys, exact
  integers, `nil` for `null`. Runs on a dirty scheduler.

  Returns `{:error, {kind, text}}` for a text that is no JSON, has a key twice in one object or
  is nested deeper than 256 levels.

      iex> BeamMCP.Native.decode(~s({"sum": [1, 2.5, null]}))
      {:ok, %{"sum" => [1, 2.5, nil]}}
      iex> BeamMCP.Native.decode(~s({"a": 1, "a": 2}))
      {:error, {:malformed, ~s(duplicate key "a" at byte 9)}}
  """
  @spec decode(binary()) :: {:ok, term()} | {:error, reason()}
  def decode(json), do: NIF.decode(json)

  @doc """
  The longest thread CPU time of each native function in nanoseconds, since the last
  `reset_times/0`; `nil` in builds without measurement.
  """
  @spec times() :: %{atom() => non_neg_integer()} | nil
  def times, do: NIF.nif_times()

  @doc "Forgets the times measured so far."
  @spec reset_times() :: :ok
  def reset_times, do: NIF.nif_times_reset()

  defp open_apart(runtime, http, hook) do
    with {:error, error} <- open(runtime.native, http, hook) do
      Instance.remove_hooks(runtime, hook)
      {:error, error}
    end
  end

  # They end with the process that the listener belongs to.
  defp start_keys(name, hook, %OAuth{} = oauth) do
    for module <- OAuth.processes(oauth), do: {:ok, _pid} = module.start_link({name, hook, oauth})
  end

  defp start_keys(_name, _hook, _other), do: nil

  defp prepare(questions), do: for({key, request} <- questions, do: {key, Walk.prepare(request)})

  # What is known of a request comes last.
  defp with_context(question, name)
       when elem(question, 0) in [:call, :read, :get_prompt, :complete, :permit, :sift, :catalog] do
    last = tuple_size(question) - 1
    put_elem(question, last, Context.new(elem(question, last), name))
  end

  defp with_context(question, _name), do: question

  defp reply_once(token, answer) do
    case NIF.reply(token, answer) do
      :large -> NIF.reply_large(token, answer)
      result -> result
    end
  end

  defp encode_once(term) do
    case NIF.encode(term) do
      :large -> NIF.encode_large(term)
      result -> result
    end
  end

  # After `prepare/1` no struct is left, so a second request to prepare names a term that no
  # encoder can help with.
  defp prepared(:prepare),
    do: {:error, {:unencodable, "a struct that BeamMCP.Encoder left as it was"}}

  defp prepared(result), do: result
end
