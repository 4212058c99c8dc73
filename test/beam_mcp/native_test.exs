defmodule BeamMCP.NativeTest do
  use ExUnit.Case, async: false

  alias BeamMCP.Fixture.{Catalog, Client, Money, Opaque, Tools}
  alias BeamMCP.Native

  describe "encode/1" do
    test "writes what JSON can say" do
      for {term, json} <- [
            {%{"a" => 1}, ~s({"a":1})},
            {[true, false, nil, :done], ~s([true,false,null,"done"])},
            {1.5, "1.5"},
            {12_345_678_901_234_567_890, "12345678901234567890"},
            {"é\n\"", ~s("é\\n\\"")},
            {[], "[]"},
            {%{}, "{}"},
            {~D[2026-07-28], ~s("2026-07-28")},
            {[%Money{amount: 1}], nil}
          ] do
        assert {:ok, encoded} = Native.encode(term)
        if json, do: assert(IO.iodata_to_binary(encoded) == json)
      end
    end

    test "names what JSON cannot say" do
      for term <- [
            self(),
            {1, 2},
            <<255>>,
            make_ref(),
            fn -> 1 end,
            %{1 => 2, "1" => 3},
            %{{1} => 1},
            [1 | 2]
          ] do
        assert {:error, {kind, text}} = Native.encode(term)
        assert is_atom(kind) and is_binary(text)
      end
    end

    test "asks for an encoder by the struct's name" do
      assert_raise ArgumentError, ~r/BeamMCP.Fixture.Opaque has no implementation/, fn ->
        Native.encode([%Opaque{}])
      end
    end

    test "writes large terms too" do
      assert {:ok, encoded} = Native.encode(Enum.to_list(1..100_000))
      assert IO.iodata_length(encoded) == 588_896
    end
  end

  describe "no function holds a scheduler" do
    # Nanoseconds of thread CPU time inside one native function on a normal scheduler. What a
    # function needs is its shortest time over the rounds: a virtual machine now and then charges
    # a thread for what its neighbours did.
    @bound_ns 1_000_000
    @rounds 5

    setup context do
      options = [
        name: context.test,
        catalog: Catalog,
        dispatch: &Tools.call/3,
        max_result_bytes: 16_000_000,
        http: [authorize: :none, allowed_origins: [], port: 0, max_body_bytes: 4_000_000]
      ]

      start_supervised!({BeamMCP, options})
      {:ok, socket: Client.connect(context.test)}
    end

    for {what, json} <- [
          {"one string of 1 MiB", quote(do: [?", List.duplicate(?a, 1_048_576), ?"])},
          {"500,000 integers",
           quote(do: [?[, Enum.intersperse(List.duplicate("1", 500_000), ?,), ?]])},
          {"40,000 maps",
           quote(do: [?[, Enum.intersperse(List.duplicate(~S({"key":1}), 40_000), ?,), ?]])}
        ] do
      test "with arguments and a result of #{what}", %{socket: socket} do
        value = IO.iodata_to_binary(unquote(json))

        rounds =
          for _round <- 1..@rounds do
            Native.reset_times()
            assert {200, body} = Client.call(socket, "echo", ~s({"value":#{value}}))
            refute body =~ ~s("isError":true)
            assert byte_size(body) > byte_size(value)
            assert %{accept: _, reply: _} = times = Native.times()
            times
          end

        for {function, ns} <- shortest(rounds) do
          assert ns <= @bound_ns, "#{function} took #{ns} ns"
        end
      end
    end

    test "with a resource of 1 MiB", %{test: name, socket: socket} do
      spec = %BeamMCP.ResourceSpec{uri: "test://blob", name: "blob"}
      bytes = :binary.copy(<<251>>, 1_048_576)
      blob = BeamMCP.Content.resource_blob("test://blob", bytes)
      :ok = BeamMCP.register_resource(name, spec, fn _asked -> {:ok, blob} end)
      headers = [{"mcp-name", "test://blob"}]

      rounds =
        for _round <- 1..@rounds do
          Native.reset_times()
          params = ~s("uri":"test://blob")
          assert {200, body} = Client.request(socket, "resources/read", params, headers: headers)
          assert byte_size(body) > 1_398_104
          Native.times()
        end

      for {function, ns} <- shortest(rounds) do
        assert ns <= @bound_ns, "#{function} took #{ns} ns"
      end
    end

    defp shortest(rounds) do
      Enum.reduce(rounds, &Map.merge(&1, &2, fn _function, one, other -> min(one, other) end))
    end
  end
end
