defmodule BeamMCP.Request do
  @moduledoc """
  The head of an HTTP request, as `authorize` and `authorize_body` see it.

    * `method` - as sent, for example `"POST"`
    * `path`, `query` - the request target, undecoded; `query` is `nil` when there is none
    * `headers` - `{lower_case_name, value}` in the order received, repeats kept
    * `peer` - `{address, port}` of the other end, or `:unix`
    * `tls` - `nil` over plain HTTP, else `version` and `client_thumbprint`: that of the certificate
      which the client showed (`x5t#S256`, RFC 8705), or `nil`

  What is inspected shows neither headers nor query: they may hold credentials.
  """

  @derive {Inspect, except: [:query, :headers]}
  defstruct [:method, :path, :query, headers: [], peer: nil, tls: nil]

  @typedoc "The head of one request."
  @type t :: %__MODULE__{
          method: String.t(),
          path: String.t(),
          query: String.t() | nil,
          headers: [{String.t(), binary()}],
          peer: {:inet.ip_address(), :inet.port_number()} | :unix,
          tls: %{version: :"tlsv1.2" | :"tlsv1.3", client_thumbprint: String.t() | nil} | nil
        }

  @doc """
  All values of a header, in the order received; `name` in lower case.

      iex> request = %BeamMCP.Request{headers: [{"x-key", "a"}, {"accept", "*/*"}, {"x-key", "b"}]}
      iex> BeamMCP.Request.header(request, "x-key")
      ["a", "b"]
  """
  @spec header(t(), String.t()) :: [binary()]
  def header(request, name), do: for({^name, value} <- request.headers, do: value)
end
