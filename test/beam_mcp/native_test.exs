defmodule BeamMCP.NativeTest do
  # What crosses the boundary arrives exactly, and no function holds a scheduler.
  use ExUnit.Case, async: false

  alias BeamMCP.Fixture.{Catalog, Client, Tools}
  alias BeamMCP.Native

  describe "encode/1 writes" do
    for {name, term, json} <- [
          {"literals", [true, false, nil], "[true,false,null]"},
          {"atoms as strings", [:ok, :"Elixir.A", :日本], ~s(["ok","Elixir.A","日本"])},
          {"integers of any size",
           [0, -1, 9_223_372_036_854_775_808, -123_456_789_012_345_678_901_234_567_890],
           "[0,-1,9223372036854775808,-123456789012345678901234567890]"},
          {"floats, shortest", [1.0, 0.1, 1.0e22, -0.5], "[1.0,0.1,1e+22,-0.5]"},
          {"strings, escaped where JSON must", ~s(a"b\\c\n\t\u0001é😀), ~S("a\"b\\c\n\t\u0001é😀")},
          {"keys of every kind", %{:a => %{"b" => %{7 => []}}}, ~s({"a":{"b":{"7":[]}}})},
          {"what is empty", [%{}, [], ""], ~s([{},[],""])}
        ] do
      test name do
        assert Native.encode(unquote(Macro.escape(term))) == {:ok, unquote(json)}
      end
    end

    test "a number of 20,000 digits exactly" do
      number = Integer.pow(7, 23_000)
      assert Native.encode(number) == {:ok, Integer.to_string(number)}
    end
  end

  describe "encode/1 refuses, with the place" do
    for {name, term, kind, place} <- [
          {"a tuple", quote(do: %{a: [1, {1}]}), :unencodable, "the value.a[1] is a tuple"},
          {"a pid", quote(do: [self()]), :unencodable, "the value[0] is a pid"},
          {"a function", quote(do: %{"f" => &is_atom/1}), :unencodable,
           "the value.f is a function"},
          {"a bitstring", quote(do: <<1::3>>), :unencodable, "the value is a bitstring"},
          {"an improper list", quote(do: [1 | 2]), :unencodable, "the value is an improper list"},
          {"bytes that are not UTF-8", quote(do: ["ok", <<"ab", 255>>]), :not_utf8,
           "the value[1] is a binary that is not UTF-8 at byte 2"},
          {"keys that become equal", quote(do: %{"a" => 1, :a => 2}), :duplicate_key,
           ~s(has the key "a" twice)},
          {"a key that is no string", quote(do: %{{1} => 1}), :unencodable, "key is a tuple"},
          {"endless nesting", quote(do: Enum.reduce(1..600, 1, fn _, inner -> [inner] end)),
           :too_deep, "deeper than 512 levels"}
        ] do
      test name do
        assert {:error, {unquote(kind), text}} = Native.encode(unquote(term))
        assert text =~ unquote(place)
      end
    end
  end

  describe "a call" do
    setup context do
      start_supervised!(
        {BeamMCP,
         name: context.test,
         catalog: Catalog,
         dispatch: &Tools.call/3,
         max_result_bytes: 20_000_000,
         http: [authorize: :none, allowed_origins: [], port: 0, max_body_bytes: 8_000_000]}
      )

      {:ok, socket: Client.connect(context.test)}
    end

    test "brings values of every kind there and back", %{socket: socket} do
      value =
        ~S({"n":[null,true,-0,1.5,1e2,123456789012345678901],"o":{"a":[{"b":[]}],"é":"\u00e9\n"}})

      assert {200, body} = Client.call(socket, "echo", ~s({"value":#{value}}))

      assert body =~
               ~S("structuredContent":{"n":[null,true,0,1.5,100.0,123456789012345678901],"o":{"a":[{"b":[]}],"é":"é\n"}})
    end

    for {name, value} <- [
          {"1 MiB as one string", quote(do: [?", String.duplicate("x", 1_048_576), ?"])},
          {"500,000 integers",
           quote(do: [?[, Enum.map_intersperse(1..500_000, ?,, &digits/1), ?]])},
          {"40,000 maps", quote(do: [?[, Enum.map_intersperse(1..40_000, ?,, &object/1), ?]])}
        ] do
      test "of #{name} holds no scheduler for more than 1 ms", %{socket: socket} do
        Native.reset_times()
        arguments = IO.iodata_to_binary([~s({"value":), unquote(value), ?}])
        assert {200, body} = Client.call(socket, "echo", arguments)
        refute body =~ ~s("isError":true)

        for {function, nanoseconds} <- Native.times() || [] do
          assert nanoseconds < 1_000_000, "#{function} took #{nanoseconds} ns"
        end
      end
    end

    defp digits(number), do: Integer.to_string(rem(number, 10))
    defp object(number), do: ~s({"id":#{number},"name":"row"})
  end
end
