defmodule BeamMCP.Options.Check do
  @moduledoc false
  # The legal values of options that are more than a number or a string. Each check answers
  # `{:ok, normalised}`, `:error`, or `{:error, entry}` with the entry of a list or map that is wrong.

  alias BeamMCP.Handler
  alias BeamMCP.Options.Type

  # Categories of answers that clients may keep (MCP 2026-07-28 server/utilities/caching); the
  # contents of resources are told apart, since they change without the catalog.
  @cached [:discover, :tools, :resources, :prompts]
  @day_ms 86_400_000

  # What has a rate of its own.
  @rated [:calls, :completions, :subscriptions]

  @spec catalog(term()) :: {:ok, module()} | :error
  def catalog(module) when is_atom(module) do
    if Handler.exports?(module, :capabilities, 0), do: {:ok, module}, else: :error
  end

  def catalog(_other), do: :error

  # Becomes `{:fun, fun, arity}` or `{:mfa, module, function, extra, arity}`, where the arity
  # says whether the context is passed.
  @spec dispatch(term()) :: {:ok, Handler.t()} | :error
  def dispatch(dispatch), do: Handler.new(dispatch, [3, 2])

  @spec hook_of(arity()) :: (term() -> {:ok, Handler.t()} | :error)
  def hook_of(arity), do: &Handler.new(&1, [arity])

  @spec context_function(term()) :: {:ok, Handler.t()} | :error
  def context_function(function), do: Handler.new(function, [1])

  @spec task_init(term()) :: {:ok, Handler.t()} | :error
  def task_init(function), do: Handler.new(function, [1, 0])

  # An integer is for every category but the contents.
  @spec cache_ttl(term()) :: {:ok, keyword(non_neg_integer())} | Type.refusal()
  def cache_ttl(ttl_ms) when is_integer(ttl_ms) and ttl_ms in 0..@day_ms,
    do: {:ok, for(category <- @cached, do: {category, ttl_ms}) ++ [contents: 0]}

  def cache_ttl(list), do: by_category(list, 0, &(is_integer(&1) and &1 in 0..@day_ms))

  @spec cache_scope(term()) :: {:ok, keyword(:private | :public)} | Type.refusal()
  def cache_scope(scope) when scope in [:private, :public],
    do: {:ok, for(category <- @cached, do: {category, scope}) ++ [contents: :private]}

  def cache_scope(list), do: by_category(list, :private, &(&1 in [:private, :public]))

  defp by_category(list, default, legal?) do
    categories = for category <- @cached ++ [:contents], do: {category, default}

    with {:ok, list} <- keyword(list, Keyword.keys(categories), legal?),
         do: {:ok, Keyword.merge(categories, list)}
  end

  # MCP revisions, newest first.
  @spec revisions() :: [String.t()]
  def revisions, do: ["2026-07-28", "2025-11-25", "2025-06-18"]

  @spec revision(term()) :: {:ok, String.t()} | :error
  def revision(revision), do: if(revision in revisions(), do: {:ok, revision}, else: :error)

  @spec object(term()) :: {:ok, map()} | :error
  def object(map) when is_map(map) and not is_struct(map), do: {:ok, map}
  def object(_other), do: :error

  @spec scopes(term()) :: {:ok, [String.t()]} | Type.refusal()
  def scopes(list) when is_list(list), do: all(list, &is_binary/1)
  def scopes(_other), do: :error

  # Becomes a list of pairs.
  @spec scopes_by_name(term()) :: {:ok, [{String.t(), [String.t()]}]} | Type.refusal()
  def scopes_by_name(map) when is_map(map) and not is_struct(map) do
    map
    |> Map.to_list()
    |> all(fn {name, list} -> is_binary(name) and match?({:ok, _}, scopes(list)) end)
  end

  def scopes_by_name(_other), do: :error

  # Becomes a list of pairs.
  @spec scope_policy(term()) :: {:ok, [{String.t(), atom()}]} | Type.refusal()
  def scope_policy(map) when is_map(map) and not is_struct(map) do
    map
    |> Map.to_list()
    |> all(fn {method, selection} ->
      is_binary(method) and selection in [:visible_definitions, :selected_definition]
    end)
  end

  def scope_policy(_other), do: :error

  @spec registrations(term()) :: {:ok, [tuple()]} | :error
  def registrations(list) do
    if is_list(list) and not List.improper?(list), do: {:ok, list}, else: :error
  end

  @spec authorize(term()) :: {:ok, term()} | :error
  def authorize(:none), do: {:ok, :none}

  def authorize({:oauth, options}) do
    if Keyword.keyword?(options), do: {:ok, {:oauth, options}}, else: :error
  end

  def authorize(hook), do: hook(hook, 1)

  @spec authorize_body(term()) :: {:ok, term()} | :error
  def authorize_body(hook), do: hook(hook, 2)

  @spec path(term()) :: {:ok, String.t()} | :error
  def path("/" <> _rest = path) do
    if path =~ ~r{\A(/[A-Za-z0-9_.~-]+)*/?\z}, do: {:ok, path}, else: :error
  end

  def path(_other), do: :error

  # Becomes an address tuple or `{:local, path}`.
  @spec ip(term()) :: {:ok, tuple()} | :error
  def ip({:local, path}) when is_binary(path) and byte_size(path) in 1..107,
    do: {:ok, {:local, path}}

  def ip(text) when is_binary(text) do
    case :inet.parse_strict_address(String.to_charlist(text)) do
      {:ok, address} -> {:ok, address}
      {:error, _reason} -> :error
    end
  end

  def ip(address) do
    if :inet.is_ip_address(address), do: {:ok, address}, else: :error
  end

  @spec origins(term()) :: {:ok, :any | [String.t()]} | Type.refusal()
  def origins(:any), do: {:ok, :any}
  def origins(list) when is_list(list), do: all(list, &origin?/1)
  def origins(_other), do: :error

  @spec hosts(term()) :: {:ok, :any | :loopback | [String.t()]} | Type.refusal()
  def hosts(kind) when kind in [:any, :loopback], do: {:ok, kind}
  def hosts(list) when is_list(list), do: all(list, &host?/1)
  def hosts(_other), do: :error

  # Become strings, which the native library reads.
  @spec networks(term()) :: {:ok, [String.t()]} | Type.refusal()
  def networks(list) when is_list(list) do
    with {:ok, list} <- all(list, &(&1 == :unix or (is_binary(&1) and String.valid?(&1)))),
         do: {:ok, Enum.map(list, &to_string/1)}
  end

  def networks(_other), do: :error

  # How often one caller may do what, by kind; all kinds are keys of the result.
  @spec rate_limits(term()) ::
          {:ok, %{atom() => {pos_integer(), pos_integer()} | nil}} | Type.refusal()
  def rate_limits(list) do
    with {:ok, list} <- keyword(list, @rated, &rate?/1),
         do: {:ok, Map.new(@rated, &{&1, list[&1]})}
  end

  defp rate?({count, per_ms}) when is_integer(count) and is_integer(per_ms),
    do: count in 1..1_000_000 and per_ms in 1..@day_ms

  defp rate?(_other), do: false

  @spec secrets(term()) :: {:ok, [binary()]} | Type.refusal()
  def secrets([_current | _previous] = secrets),
    do: all(secrets, &(is_binary(&1) and byte_size(&1) >= 32))

  def secrets(_other), do: :error

  @spec header_names(term()) :: {:ok, [String.t()]} | Type.refusal()
  def header_names(names) when is_list(names) do
    with {:ok, names} <-
           all(names, &(is_binary(&1) and &1 =~ ~r/\A[!#$%&'*+.^_`|~0-9A-Za-z-]+\z/)) do
      {:ok, Enum.map(names, &String.downcase(&1, :ascii))}
    end
  end

  def header_names(_other), do: :error

  @spec icons(term()) :: {:ok, [map()]} | Type.refusal()
  def icons(icons) do
    if is_list(icons), do: all(icons, &(BeamMCP.Icon.faults([&1]) == [])), else: :error
  end

  @spec listeners(term()) :: {:ok, [keyword()]} | :error
  def listeners([]), do: {:ok, []}

  def listeners(list) when is_list(list) do
    cond do
      Keyword.keyword?(list) -> {:ok, [list]}
      Enum.all?(list, &Keyword.keyword?/1) -> {:ok, list}
      true -> :error
    end
  end

  def listeners(_other), do: :error

  @spec store(term()) :: {:ok, {module(), keyword()}} | :error
  def store(store), do: store(store, :fetch, 2)

  @spec replay_store(term()) :: {:ok, {module(), keyword()}} | :error
  def replay_store(store), do: store(store, :claim, 3)

  defp store({module, options}, function, arity) when is_atom(module) and is_list(options) do
    if Handler.exports?(module, :child_spec, 1) and Handler.exports?(module, function, arity),
      do: {:ok, {module, options}},
      else: :error
  end

  defp store(_other, _function, _arity), do: :error

  @spec issuers(term()) :: {:ok, [keyword()]} | Type.refusal()
  def issuers([_first | _rest] = list), do: all(list, &Keyword.keyword?/1)
  def issuers(_other), do: :error

  # Becomes `{:static, json}`, `{:jwks_uri, url}`, `{:discover, issuer}` or `{:introspect, url, options}`.
  @spec keys(term()) ::
          {:ok,
           {:static | :jwks_uri | :discover, binary()} | {:introspect, String.t(), keyword()}}
          | :error
  def keys({kind, url}) when kind in [:jwks_uri, :discover] and is_binary(url),
    do: if(fetched?(url), do: {:ok, {kind, url}}, else: :error)

  def keys({:introspect, url, options}) when is_binary(url) do
    if fetched?(url) and Keyword.keyword?(options),
      do: {:ok, {:introspect, url, options}},
      else: :error
  end

  def keys({:static, json}) when is_binary(json), do: {:ok, {:static, json}}

  def keys({:static, map}) when is_map(map) do
    case BeamMCP.Native.encode(map) do
      {:ok, json} -> {:ok, {:static, json}}
      {:error, _reason} -> :error
    end
  end

  def keys(_other), do: :error

  defp fetched?(url) do
    url =~
      ~r{\A(https://[^/?#@\s]|http://(localhost|127\.0\.0\.1|\[::1\])([:/]|\z))[^#@\s]*\z}
  end

  # Becomes the secret itself.
  @spec secret(term()) :: {:ok, binary()} | :error
  def secret(secret) when is_binary(secret) and secret != "", do: {:ok, secret}

  def secret(fun) when is_function(fun, 0) do
    case fun.() do
      secret when is_binary(secret) and secret != "" -> {:ok, secret}
      _other -> :error
    end
  end

  def secret(_other), do: :error

  # Becomes `{:file, path}` or `{:text, pem}`.
  @spec pem(term()) :: {:ok, {:file | :text, String.t()}} | :error
  def pem({:file, path}) when is_binary(path) and path != "", do: {:ok, {:file, path}}

  def pem(text) do
    with {:ok, pem} <- secret(text), do: {:ok, {:text, pem}}
  end

  @spec keywords(term()) :: {:ok, keyword()} | :error
  def keywords(options), do: if(Keyword.keyword?(options), do: {:ok, options}, else: :error)

  # Networks become strings; the native library reads them.
  @spec mtls(term()) ::
          {:ok, {:tls} | {:trusted_proxy, [String.t()], String.t()}} | Type.refusal()
  def mtls({:tls}), do: {:ok, {:tls}}

  def mtls({:trusted_proxy, [_first | _rest] = networks, header}) do
    with {:ok, networks} <- all(networks, &(&1 == :unix or is_binary(&1))),
         {:ok, [header]} <- header_names([header]) do
      {:ok, {:trusted_proxy, Enum.map(networks, &to_string/1), header}}
    end
  end

  def mtls(_other), do: :error

  @spec strings(term()) :: {:ok, [String.t()]} | Type.refusal()
  def strings(list) when is_list(list), do: all(list, &(is_binary(&1) and String.valid?(&1)))
  def strings(_other), do: :error

  @spec process_name(term()) :: {:ok, atom()} | :error
  def process_name(name) when is_atom(name) and name not in [nil, true, false, :undefined],
    do: {:ok, name}

  def process_name(_other), do: :error

  @spec instances(term()) :: {:ok, :all | [term()]} | :error
  def instances(:all), do: {:ok, :all}
  def instances(names), do: registrations(names)

  defp hook(fun, arity) when is_function(fun, arity),
    do: if(Handler.exists?(fun, arity), do: {:ok, fun}, else: :error)

  defp hook({module, function}, arity), do: hook({module, function, []}, arity)

  defp hook({module, function, extra} = hook, arity)
       when is_atom(module) and is_atom(function) and is_list(extra) do
    if Handler.exports?(module, function, arity + length(extra)), do: {:ok, hook}, else: :error
  end

  defp hook(_other, _arity), do: :error

  defp keyword(list, keys, legal?) do
    if Keyword.keyword?(list),
      do: all(list, fn {key, value} -> key in keys and legal?.(value) end),
      else: :error
  end

  defp all(list, legal?) do
    with false <- List.improper?(list),
         [wrong | _rest] <- Enum.reject(list, legal?) do
      {:error, wrong}
    else
      true -> :error
      [] -> {:ok, list}
    end
  end

  # RFC 6454 §6.2: scheme, host and port in their serialised form, nothing after.
  defp origin?("null"), do: true
  defp origin?(text) when is_binary(text), do: text =~ ~r{\A[a-z][a-z0-9+.-]*://[^/\s?#@*A-Z]+\z}
  defp origin?(_other), do: false

  # What the native library reads as `host[:port]`; there are no wildcards.
  defp host?(text) when is_binary(text),
    do: text =~ ~r/\A(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?\z/

  defp host?(_other), do: false
end
