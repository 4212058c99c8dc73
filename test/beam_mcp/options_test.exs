defmodule BeamMCP.OptionsTest do
  use ExUnit.Case, async: true

  alias BeamMCP.Options
  alias BeamMCP.Options.{Table, Type}

  doctest Options

  @tables [
    :instance,
    :http,
    :tls,
    :oauth,
    :issuer,
    :introspection,
    :stdio,
    :session_ets,
    :session_mnesia,
    :staged_ets,
    :staged_mnesia,
    :task_ets,
    :task_mnesia,
    :replay_ets,
    :replay_mnesia,
    :test,
    :observed
  ]

  for table <- @tables do
    describe "the table #{table}" do
      @table table

      test "has a legal default, a sentence and one row for each key" do
        rows = Table.rows(@table)
        assert Enum.uniq_by(rows, & &1.key) == rows

        for row <- rows do
          assert String.ends_with?(row.doc, "."), "#{row.key}"
          assert Type.legal(row.type) != ""
          assert legal_default?(row), "#{row.key}"
        end
      end

      test "documents every key" do
        docs = Options.docs(@table)
        for key <- Options.keys(@table), do: assert(docs =~ "`:#{key}`")
      end

      test "refuses an unknown key, a key given twice and what is no keyword list" do
        assert_raise ArgumentError, ~r/unknown option a\.nonsense; known options are: /, fn ->
          Options.validate!(@table, [nonsense: 1], "a.")
        end

        key = hd(Options.keys(@table))

        assert_raise ArgumentError, "option #{key} is given twice", fn ->
          Options.validate!(@table, [{key, 1}, {key, 1}])
        end

        assert_raise ArgumentError, ~r/options of a must be a keyword list, got: \[:on\]/, fn ->
          Options.validate!(@table, [:on], "a.")
        end
      end

      test "holds every number to its bounds" do
        for %{key: key, type: {:integer, min, max}} <- Table.rows(@table) do
          for legal <- [min, max],
              do: assert({:ok, ^legal} = Type.cast({:integer, min, max}, legal))

          for wrong <- [min - 1, max + 1, 1.0, "1", nil] do
            assert Type.cast({:integer, min, max}, wrong) == :error, "#{key} #{inspect(wrong)}"
          end
        end
      end
    end
  end

  test "guesses what an unknown key was meant to be, or where it belongs" do
    for {key, meant} <- [
          call_timeout: "call_timeout_ms",
          servername: "server_name",
          port: "http: [port: ..]",
          authorize: "http: [authorize: ..]"
        ] do
      error = assert_raise ArgumentError, fn -> Options.validate!(:instance, [{key, 1}]) end

      assert error.message =~
               "unknown option #{key} (did you mean #{meant}?); known options are: name, "
    end
  end

  test "names the path, the legal values and the value given" do
    assert_raise ArgumentError,
                 "option http[1].port: expected an integer from 0 to 65,535, got: \"80\"",
                 fn ->
                   Options.validate!(
                     :http,
                     [authorize: :none, allowed_origins: [], port: "80"],
                     "http[1]."
                   )
                 end
  end

  test "never repeats a secret" do
    error =
      assert_raise ArgumentError, fn ->
        Options.validate!(:instance,
          catalog: BeamMCP.Fixture.Catalog,
          dispatch: &BeamMCP.Fixture.Tools.call/3,
          secrets: ["swordfish"]
        )
      end

    assert error.message =~ "binaries of at least 32 octets"
    refute error.message =~ "swordfish"
  end

  test "shows no secret that lies in what is wrong" do
    secret = "swordfish"

    for wrong <- [
          %{client_secret: secret},
          [{"a", %{b: %{client_key: secret}}}],
          {:oauth, %{issuers: [%{keys: {:introspect, "x", %{client_secret: secret}}}]}},
          %{dpop_nonce_secrets: [secret], list: [secrets: [secret]]}
        ] do
      error =
        assert_raise ArgumentError, fn ->
          Options.validate!(:http, authorize: :none, allowed_origins: wrong)
        end

      assert error.message =~ "option allowed_origins: expected"
      assert error.message =~ ":hidden"
      refute error.message =~ secret
    end
  end

  defp legal_default?(%{default: :required}), do: true
  defp legal_default?(%{default: {:described, text}}), do: is_binary(text)

  defp legal_default?(%{type: type, default: default}),
    do: match?({:ok, _}, Type.cast(type, default))
end
