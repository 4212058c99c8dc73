defmodule BeamMCP.TokenFactsTest do
  use ExUnit.Case, async: true

  alias BeamMCP.TokenFacts

  defp facts(changes) do
    %TokenFacts{
      issuer: "i",
      subject: "s",
      client_id: "c",
      jti: nil,
      scopes: [],
      audience: [],
      expires_at: 0.0,
      issued_at: nil,
      not_before: nil,
      acr: nil,
      auth_time: nil,
      binding: :bearer,
      claims: %{"email" => "ann@example.com"}
    }
    |> struct!(changes)
  end

  test "different owners have different keys" do
    owners = [
      {facts([]), nil},
      {facts([]), ""},
      {facts([]), "t"},
      {facts(client_id: nil), nil},
      {facts(client_id: ""), nil},
      {facts(issuer: "is", subject: ""), nil},
      {facts(subject: "sc", client_id: ""), nil}
    ]

    keys = for {facts, tenant} <- owners, do: TokenFacts.binding_key(facts, tenant)
    assert Enum.uniq(keys) == keys
    for key <- keys, do: assert(byte_size(key) == 32)
  end

  test "the key is that of the native library, whose test has the same" do
    assert <<first::binary-size(8), _rest::binary>> = TokenFacts.binding_key(facts([]))
    assert Base.encode16(first, case: :lower) == "18f7c790efb45f3c"
  end

  test "inspect shows no claims and no subject" do
    shown = inspect(facts(subject: "user-7f3a"))
    refute shown =~ "ann@example.com"
    refute shown =~ "user-7f3a"
  end
end
