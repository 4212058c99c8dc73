defmodule BeamMCP.Listener do
  @moduledoc """
  An open HTTP listener.

  `BeamMCP.info/1` lists those of an instance; `BeamMCP.Native.start_http/1` opens one more.
  """

  @enforce_keys [:resource, :address, :path]
  defstruct [:resource, :address, :path, :tls]

  @typedoc "Where it listens; the port is the real one, also for `port: 0`."
  @type address :: {:tcp, :inet.ip_address(), :inet.port_number()} | {:unix, String.t()}

  @typedoc "An open listener."
  @type t :: %__MODULE__{
          resource: reference(),
          address: address(),
          path: String.t(),
          tls: BeamMCP.TLS.t() | nil
        }

  @doc false
  @spec new(reference(), address(), BeamMCP.Config.listener()) :: t()
  def new(resource, address, http) do
    %__MODULE__{resource: resource, address: address, path: http.path, tls: http.tls}
  end

  @doc """
  The URL of the endpoint. A Unix-domain socket has none: its path is returned.

      iex> listener = %BeamMCP.Listener{resource: nil, address: {:tcp, {127, 0, 0, 1}, 4040}, path: "/mcp"}
      iex> BeamMCP.Listener.url(listener)
      "http://127.0.0.1:4040/mcp"
      iex> listener
      #BeamMCP.Listener<http://127.0.0.1:4040/mcp>
  """
  @spec url(t()) :: String.t()
  def url(%{address: {:tcp, ip, port}, path: path, tls: tls}),
    do: "#{if tls, do: "https", else: "http"}://#{host(ip)}:#{port}#{path}"

  def url(%{address: {:unix, socket}}), do: socket

  @doc "The port that the system gave, or `nil` for a Unix-domain socket."
  @spec port(t()) :: :inet.port_number() | nil
  def port(%{address: {:tcp, _ip, port}}), do: port
  def port(%{address: {:unix, _socket}}), do: nil

  defp host(ip) when tuple_size(ip) == 8, do: "[#{:inet.ntoa(ip)}]"
  defp host(ip), do: "#{:inet.ntoa(ip)}"

  defimpl Inspect do
    def inspect(listener, _opts), do: "#BeamMCP.Listener<#{BeamMCP.Listener.url(listener)}>"
  end
end
