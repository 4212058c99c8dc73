defmodule BeamMCP.Test.Request do
  @moduledoc false
  # One request of a client, and how it and notifications stand on the wire.

  alias BeamMCP.Native
  alias BeamMCP.Test.Client

  @enforce_keys [:client, :id, :method, :params, :options, :answer, :timeout_ms]
  defstruct @enforce_keys

  @type t :: %__MODULE__{
          client: Client.t(),
          id: pos_integer(),
          method: String.t(),
          params: map(),
          options: keyword(),
          # Answers what the server asks in its result.
          answer: (String.t(), map() -> BeamMCP.Test.told()) | nil,
          timeout_ms: pos_integer()
        }

  @modern "2026-07-28"
  @prefix "io.modelcontextprotocol/"

  @doc "Whether the client stands for itself with each request instead of once (MCP 2026-07-28 basic)."
  @spec modern?(Client.t()) :: boolean()
  def modern?(client), do: client.revision == @modern

  @doc "The `_meta` of a request, from the client's settings."
  @spec meta(map(), pos_integer()) :: map()
  def meta(settings, id) do
    progress = if settings.progress, do: %{"progressToken" => id}, else: %{}
    Map.merge(progress, identity(settings))
  end

  @doc "The line of a message. Raises `ArgumentError` for parameters that JSON cannot say."
  @spec line(map()) :: binary()
  def line(message) do
    case Native.encode(Map.put(message, :jsonrpc, "2.0")) do
      {:ok, json} -> json <> "\n"
      {:error, {_kind, text}} -> raise ArgumentError, "this cannot be sent: #{text}"
    end
  end

  defp identity(%{revision: @modern} = settings) do
    identity = %{
      (@prefix <> "protocolVersion") => @modern,
      (@prefix <> "clientInfo") => settings.client_info,
      (@prefix <> "clientCapabilities") => settings.capabilities
    }

    if settings.log_level,
      do: Map.put(identity, @prefix <> "logLevel", settings.log_level),
      else: identity
  end

  defp identity(_legacy), do: %{}
end
