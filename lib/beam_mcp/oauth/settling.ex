defmodule BeamMCP.OAuth.Settling do
  @moduledoc false
  # What is left to be settled of a sender whose access token is right, in one visit: whether its
  # issuer still says so, where a stream was opened by that, revocation, principal, whether the
  # endpoint is open to it, and last the proof: nobody burns another's, and what is refused before
  # fills no store.

  alias BeamMCP.{Fault, Handler, Identity, Instance, Native, OAuth, Request, TokenFacts}

  @type answer ::
          :settled
          | {:accept, principal :: binary(), identity :: binary(), scopes :: [String.t()]}
          | {:unsettled, reason :: String.t()}

  @type replay :: {key :: String.t(), ttl_s :: pos_integer()} | nil

  @type inquiry :: {digest :: binary(), Native.inquiry()} | nil

  @spec answer(Instance.t(), non_neg_integer(), Request.t(), map(), replay(), inquiry()) ::
          answer()
  def answer(instance, number, request, facts, replay, inquiry) do
    facts = struct!(TokenFacts, facts)

    with %OAuth{} = oauth <- oauth(instance, number),
         :ok <- check_active(oauth, {instance.name, number}, inquiry),
         :ok <- check_revocation(oauth.revocation, facts),
         {:ok, principal, answer} <- load(oauth.load_principal, facts),
         :ok <- check_mount(oauth.authorize_mount, principal, request),
         :ok <- claim(instance.replays, replay) do
      answer
    else
      {:error, reason} -> {:unsettled, reason}
    end
  end

  # A listener that closed meanwhile has none.
  defp oauth(instance, number) do
    case :ets.lookup(instance.hooks, number) do
      [{^number, %OAuth{} = oauth, _body}] -> oauth
      _none -> {:error, "principal_unavailable"}
    end
  end

  defp check_active(_oauth, _place, nil), do: :ok

  defp check_active(oauth, place, {_digest, inquiry} = asked) do
    with :unknown <- Native.introspected(oauth.guard, inquiry),
         :unknown <- ask_again(oauth, place, asked) do
      {:error, "introspection_unavailable"}
    else
      :active -> :ok
      {:refused, reason} -> {:error, reason}
    end
  end

  defp ask_again(oauth, {name, number}, {digest, inquiry}) do
    case OAuth.Introspection.ask(name, number, digest, inquiry) do
      :ok -> Native.introspected(oauth.guard, inquiry)
      :failed -> :unknown
    end
  end

  defp check_revocation(nil, _facts), do: :ok

  defp check_revocation(hook, facts) do
    case run("revocation", hook, [facts]) do
      {:answer, :active} -> :ok
      {:answer, :revoked} -> {:error, "revoked"}
      failed -> failed("revocation", failed, "revocation_unavailable")
    end
  end

  defp load(nil, facts), do: {:ok, {facts.issuer, facts.subject, facts.client_id}, :settled}

  defp load(hook, facts) do
    case run("load_principal", hook, [facts]) do
      {:answer, {:ok, principal}} -> accept(principal, facts, [])
      {:answer, {:ok, principal, more}} when is_list(more) -> accept(principal, facts, more)
      {:answer, :unknown} -> {:error, "unknown_principal"}
      failed -> failed("load_principal", failed, "principal_unavailable")
    end
  end

  defp accept(principal, facts, more) do
    tenant = more[:tenant]
    key = more[:binding_key] || TokenFacts.binding_key(facts, tenant)
    {:ok, principal, {:accept, key, Identity.of_token(principal, facts, tenant), facts.scopes}}
  end

  defp check_mount(nil, _principal, _request), do: :ok

  defp check_mount(hook, principal, request) do
    case run("authorize_mount", hook, [principal, request]) do
      {:answer, :ok} -> :ok
      {:answer, :deny} -> {:error, "mount_denied"}
      failed -> failed("authorize_mount", failed, "mount_denied")
    end
  end

  defp claim(_store, nil), do: :ok

  defp claim({store, namespace}, {key, ttl_s}) do
    case run("replay_store", {:mfa, store, :claim, [], 3}, [namespace, key, ttl_s]) do
      {:answer, :new} -> :ok
      {:answer, :seen} -> {:error, "dpop_replay"}
      {:answer, {:error, _full}} -> {:error, "replay_unavailable"}
      failed -> failed("replay_store", failed, "replay_unavailable")
    end
  end

  defp run(place, hook, arguments) do
    {:answer, Handler.call(hook, arguments)}
  catch
    kind, reason ->
      Fault.log(kind, reason, __STACKTRACE__, place)
      :raised
  end

  defp failed(_place, :raised, reason), do: {:error, reason}

  defp failed(place, {:answer, _other}, reason) do
    Fault.log_text("#{place} answered something else than its documentation says")
    {:error, reason}
  end
end
