defmodule BeamMCP.TLS do
  @moduledoc """
  TLS of a listener: `tls: options`.

      http: [
        ip: "0.0.0.0",
        port: 443,
        tls: [certfile: "/etc/mcp/fullchain.pem", keyfile: "/etc/mcp/privkey.pem"],
        authorize: &MyApp.Auth.check/1,
        allowed_origins: []
      ]

  Versions 1.2 and 1.3, HTTP/1.1 and HTTP/2 by ALPN. The handshake must end within
  `header_timeout_ms`, counts as a connection from accept on, and is signed on threads that serve no
  requests. The files are read before the listener opens, and again by `BeamMCP.reload_tls/1`.

  With `client_certificates` the `BeamMCP.Request` has the thumbprint of the client's certificate, for
  an `authorize` function to decide on; `mtls: {:tls}` of `BeamMCP.OAuth` holds access tokens against
  it.

  ## Options

  #{BeamMCP.Options.docs(:tls)}
  """

  alias BeamMCP.{Error, Native, Options}

  @derive {Inspect, only: [:client_certificates]}
  @enforce_keys [:resource, :client_certificates]
  defstruct @enforce_keys

  @typedoc "Files that were read, and what clients are asked for."
  @type t :: %__MODULE__{
          resource: Native.tls(),
          client_certificates: :off | :requested | :required
        }

  @doc false
  @spec new!(keyword(), String.t()) :: t()
  def new!(options, path) do
    options = Options.validate!(:tls, options, path)
    refuse_unasked!(options, path)

    case Native.tls(options) do
      {:ok, resource} ->
        %__MODULE__{resource: resource, client_certificates: options.client_certificates}

      {:error, {_kind, text}} ->
        raise ArgumentError, "option #{path}#{text}"
    end
  end

  @doc false
  @spec reload(t() | nil, term()) :: :ok | {:error, Error.t()}
  def reload(nil, _address), do: :ok

  def reload(tls, address) do
    with {:error, reason} <- Native.read_tls_again(tls.resource),
         do: {:error, Error.tls(address, reason)}
  end

  defp refuse_unasked!(%{client_certificates: :off, cacertfile: cacertfile}, path)
       when cacertfile != nil do
    raise ArgumentError,
          "option #{path}cacertfile: clients are asked for no certificate; " <>
            "say `client_certificates: :requested` or `:required`"
  end

  defp refuse_unasked!(_options, _path), do: :ok
end
