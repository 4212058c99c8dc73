defmodule BeamMCP.TokenFacts do
  @moduledoc """
  What an access token says that was found right, for the hooks of `BeamMCP.OAuth`. Never the token.

    * `issuer`, `subject`, `client_id`, `jti` - `iss`, `sub`, the client's id and the token's
    * `scopes` - what was granted, without repeats
    * `audience` - `aud` as a list
    * `expires_at`, `issued_at`, `not_before`, `auth_time` - seconds, floats; `expires_at` is `nil` for
      a token without end (`allow_unbounded_introspection`)
    * `acr` - how the user signed in (RFC 9470)
    * `binding` - what ties the token to its sender: `:bearer`, `:dpop`, `:mtls` or `:"dpop+mtls"`
    * `claims` - everything else that it says; `inspect/1` leaves this out
  """

  @derive {Inspect, only: [:issuer, :scopes, :audience, :expires_at, :binding]}
  @enforce_keys ~w(issuer subject client_id jti scopes audience expires_at issued_at not_before
                   acr auth_time binding claims)a
  defstruct @enforce_keys

  @typedoc "What a token says."
  @type t :: %__MODULE__{
          issuer: String.t(),
          subject: String.t(),
          client_id: String.t() | nil,
          jti: String.t() | nil,
          scopes: [String.t()],
          audience: [String.t()],
          expires_at: float() | nil,
          issued_at: float() | nil,
          not_before: float() | nil,
          acr: String.t() | nil,
          auth_time: float() | nil,
          binding: :bearer | :dpop | :mtls | :"dpop+mtls",
          claims: map()
        }

  @doc """
  What ties sessions, cursors, streams and what clients are asked to their owner: SHA-256 over issuer,
  subject, client and tenant, each after its length. The native library computes the same.
  """
  @spec binding_key(t(), tenant :: String.t() | nil) :: binary()
  def binding_key(facts, tenant \\ nil) do
    parts = for part <- [facts.issuer, facts.subject, facts.client_id, tenant], do: prefixed(part)
    :crypto.hash(:sha256, parts)
  end

  # What is not there differs from what is empty.
  defp prefixed(nil), do: <<-1::64>>
  defp prefixed(part), do: [<<byte_size(part)::64>>, part]
end
