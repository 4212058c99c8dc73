defmodule Protected.Issuer do
  @moduledoc """
  An OAuth 2.1 authorization server **for tests**, on this machine alone.

  Everybody is its user `alice`, nobody is asked anything, scopes are granted as they are asked for, its
  key is new at each start and what it knows ends with it. It is here so that the way of a client can be
  gone from end to end without an identity provider, and to show what such a one is expected to do:

    * metadata (RFC 8414, and at the place of OpenID Connect Discovery) and its key set
    * dynamic registration of public clients (RFC 7591)
    * authorization codes with PKCE (RFC 7636), good once and for a minute, `iss` in the response (RFC 9207),
      one `resource` for each token (RFC 8707)
    * refresh tokens that are used once
    * tokens bound to a key when a DPoP proof comes along (RFC 9449)

  BeamMCP issues no tokens, and this module is no start for something that does.
  """

  use GenServer

  alias Protected.Certificates
  alias Protected.Issuer.{Endpoints, Key, Memory, Server}

  @enforce_keys [:url, :key, :memory, :clock]
  defstruct @enforce_keys

  @typedoc "What answers need: the identifier, the key that signs, what is remembered, and the clock, in seconds."
  @type t :: %__MODULE__{url: String.t(), key: Key.t(), memory: Memory.t(), clock: clock()}

  @type clock :: (() -> integer())

  @doc "Starts one on a port that the system chooses, over TLS where there are certificates."
  @spec start_link(Certificates.t() | nil, clock()) :: GenServer.on_start()
  def start_link(certificates, clock \\ fn -> System.os_time(:second) end),
    do: GenServer.start_link(__MODULE__, {certificates, clock})

  @doc "The issuer that a process is."
  @spec get(pid()) :: t()
  def get(pid), do: GenServer.call(pid, :get)

  @impl GenServer
  def init({certificates, clock}) do
    listening = Server.listen(certificates)

    issuer = %__MODULE__{
      url: Server.url(listening),
      key: Key.generate(),
      memory: Memory.new(),
      clock: clock
    }

    spawn_link(fn -> Server.serve(listening, &Endpoints.answer(issuer, &1)) end)
    {:ok, issuer}
  end

  @impl GenServer
  def handle_call(:get, _from, issuer), do: {:reply, issuer, issuer}
end
