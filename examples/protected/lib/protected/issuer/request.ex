defmodule Protected.Issuer.Request do
  @moduledoc false
  # One HTTP request, read whole.

  alias Protected.Issuer.Server

  @enforce_keys [:method, :path, :query, :headers, :body]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          method: String.t(),
          path: String.t(),
          query: String.t(),
          headers: [{String.t(), String.t()}],
          body: binary()
        }

  @timeout_ms 5_000
  @max_headers 64
  @max_body_bytes 65_536

  @spec read(Server.socket()) :: {:ok, t()} | :error | {:error, term()}
  def read({transport, socket}) do
    with {:ok, {:http_request, method, {:abs_path, target}, _version}} <-
           transport.recv(socket, 0, @timeout_ms),
         {:ok, headers} <- read_headers({transport, socket}, []),
         {:ok, body} <- read_body({transport, socket}, headers) do
      %URI{path: path, query: query} = URI.parse(target)
      request = %{method: to_string(method), path: path, query: query || "", headers: headers}
      {:ok, struct!(__MODULE__, Map.put(request, :body, body))}
    end
  end

  @doc "The values of a header, `name` in lower case."
  @spec header(t(), String.t()) :: [String.t()]
  def header(request, name), do: for({^name, value} <- request.headers, do: value)

  @doc "The parameters of a query or a form; none where it is malformed."
  @spec parameters(String.t()) :: %{String.t() => String.t()}
  def parameters(text) do
    case :uri_string.dissect_query(text) do
      pairs when is_list(pairs) ->
        for {name, value} when is_binary(value) <- pairs, into: %{}, do: {name, value}

      {:error, _reason, _detail} ->
        %{}
    end
  end

  defp read_headers(_socket, headers) when length(headers) > @max_headers, do: :error

  defp read_headers({transport, socket}, headers) do
    case transport.recv(socket, 0, @timeout_ms) do
      {:ok, {:http_header, _bit, name, _reserved, value}} ->
        read_headers({transport, socket}, [{String.downcase(to_string(name)), value} | headers])

      {:ok, :http_eoh} ->
        {:ok, Enum.reverse(headers)}

      _malformed_or_closed ->
        :error
    end
  end

  defp read_body({transport, socket}, headers) do
    with {_name, text} <- List.keyfind(headers, "content-length", 0, {"", "0"}),
         {length, ""} when length in 0..@max_body_bytes <- Integer.parse(text),
         :ok <- setopts({transport, socket}, packet: :raw) do
      receive_bytes({transport, socket}, length)
    end
  end

  defp receive_bytes(_socket, 0), do: {:ok, ""}

  defp receive_bytes({transport, socket}, length), do: transport.recv(socket, length, @timeout_ms)

  defp setopts({:gen_tcp, socket}, options), do: :inet.setopts(socket, options)
  defp setopts({:ssl, socket}, options), do: :ssl.setopts(socket, options)
end
