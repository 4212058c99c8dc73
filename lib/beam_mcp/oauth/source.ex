defmodule BeamMCP.OAuth.Source do
  @moduledoc false
  # Where the keys of an issuer are: at a URL that the host named, or at the one that the issuer's
  # metadata names (RFC 8414 §3, OpenID Connect Discovery §4), which must be the issuer's own.

  @enforce_keys [:issuer, :keys, :allow_private?]
  defstruct [:issuer, :keys, :allow_private?, :trust, candidates: [], state: :keys]

  @type t :: %__MODULE__{
          issuer: String.t(),
          keys: {:jwks_uri, String.t()} | {:discover, String.t()},
          allow_private?: boolean(),
          # Whom its host's certificate must be of, or nil for whom the system trusts.
          trust: BeamMCP.Native.trust() | nil,
          # Places of metadata that were not tried yet.
          candidates: [String.t()],
          state: :keys | :metadata
        }

  @type outcome ::
          {:ok, status :: pos_integer(), max_age_s :: non_neg_integer() | nil, body :: binary()}
          | {:error, String.t()}

  @type next ::
          {:fetch, url :: String.t(), t()}
          | {:keys, body :: binary(), max_age_s :: non_neg_integer() | nil}
          | {:error, :unreachable | :no_set, String.t()}

  @doc "What is fetched first."
  @spec first(t()) :: {url :: String.t(), t()}
  def first(%{keys: {:jwks_uri, url}} = source), do: {url, %{source | state: :keys}}

  def first(%{keys: {:discover, issuer}} = source) do
    [url | candidates] = metadata_urls(issuer)
    {url, %{source | state: :metadata, candidates: candidates}}
  end

  @doc "What is to be done with what came."
  @spec next(t(), outcome()) :: next()
  def next(%{state: :keys}, {:ok, 200, max_age_s, body}), do: {:keys, body, max_age_s}

  def next(%{state: :metadata} = source, {:ok, 200, _max_age_s, body}) do
    with {:ok, %{"issuer" => issuer, "jwks_uri" => url}} <- BeamMCP.Native.decode(body),
         true <- issuer == source.issuer and is_binary(url) do
      {:fetch, url, %{source | state: :keys, candidates: []}}
    else
      _other -> {:error, :no_set, "its metadata names another issuer, or no jwks_uri"}
    end
  end

  def next(_source, {:ok, status, _max_age_s, _body}) when status == 429 or status >= 500,
    do: {:error, :unreachable, "it answered #{status}"}

  def next(%{state: :metadata, candidates: [url | candidates]} = source, {:ok, _status, _, _}),
    do: {:fetch, url, %{source | candidates: candidates}}

  def next(_source, {:ok, status, _max_age_s, _body}),
    do: {:error, :no_set, "it answered #{status}"}

  def next(_source, {:error, text}), do: {:error, :unreachable, text}

  @doc "The source as before the first fetch."
  @spec reset(t()) :: t()
  def reset(source), do: %{source | state: :keys, candidates: []}

  @doc """
  Where an issuer's metadata may be, in the order in which they are tried.

      iex> BeamMCP.OAuth.Source.metadata_urls("https://a.example/t")
      [
        "https://a.example/.well-known/oauth-authorization-server/t",
        "https://a.example/.well-known/openid-configuration/t",
        "https://a.example/t/.well-known/openid-configuration"
      ]
      iex> BeamMCP.OAuth.Source.metadata_urls("https://a.example/")
      [
        "https://a.example/.well-known/oauth-authorization-server",
        "https://a.example/.well-known/openid-configuration"
      ]
  """
  @spec metadata_urls(String.t()) :: [String.t()]
  def metadata_urls(issuer) do
    [_all, origin, path] = Regex.run(~r{\A([a-z]+://[^/]+)(.*?)/?\z}, issuer)

    inserted =
      for name <- ~w(oauth-authorization-server openid-configuration),
          do: origin <> "/.well-known/" <> name <> path

    if path == "",
      do: inserted,
      else: inserted ++ [origin <> path <> "/.well-known/openid-configuration"]
  end
end
