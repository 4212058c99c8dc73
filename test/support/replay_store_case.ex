defmodule BeamMCP.ReplayStoreCase do
  @moduledoc """
  What the stores of this library do with proofs, as tests with a clock that is moved by hand.

      defmodule BeamMCP.ReplayStore.ETSTest do
        use BeamMCP.ReplayStoreCase, store: BeamMCP.ReplayStore.ETS
      end

  A test for any other `BeamMCP.ReplayStore` gives it the option `:clock` as well, a function that
  returns milliseconds, or leaves out what needs it.
  """

  use ExUnit.CaseTemplate

  using options do
    quote do
      @store unquote(options[:store])

      setup do
        clock = :counters.new(1, [])
        namespace = BeamMCP.SessionStoreCase.namespace()
        {:ok, namespace: namespace, clock: clock}
      end

      test "a proof is new once, and again when its time is over", context do
        namespace = start(context)
        assert @store.claim(namespace, "a", 91) == :new
        assert @store.claim(namespace, "b", 91) == :new
        :counters.put(context.clock, 1, 90_999)
        assert @store.claim(namespace, "a", 91) == :seen
        :counters.put(context.clock, 1, 91_000)
        assert @store.claim(namespace, "a", 91) == :new
        assert @store.claim(namespace, "a", 91) == :seen
      end

      test "of many at the same time one is new", context do
        namespace = start(context)

        for round <- 1..20 do
          :counters.put(context.clock, 1, round * 91_000)

          answers =
            1..50
            |> Enum.map(fn _copy -> Task.async(fn -> @store.claim(namespace, "a", 91) end) end)
            |> Task.await_many()

          assert Enum.count(answers, &(&1 == :new)) == 1
          assert Enum.count(answers, &(&1 == :seen)) == 49
        end
      end

      test "a full store takes none", context do
        namespace = start(context, max_proofs: 2)
        assert @store.claim(namespace, "a", 91) == :new
        assert @store.claim(namespace, "b", 91) == :new
        assert @store.claim(namespace, "c", 91) == {:error, :full}
      end

      test "what is too old is swept away", context do
        namespace = start(context, max_proofs: 1, sweep_interval_ms: 5)
        assert @store.claim(namespace, "a", 91) == :new
        # Beyond what a store that several nodes share leaves for their clocks.
        :counters.put(context.clock, 1, 91_000 + 60_000)

        assert BeamMCP.ReplayStoreCase.eventually(fn ->
                 @store.claim(namespace, "b", 91) == :new
               end)
      end

      test "makes no atoms", context do
        namespace = start(context)
        @store.claim(namespace, "warm", 91)
        claim = &@store.claim(namespace, "proof-#{&1}", 91)
        assert BeamMCP.Test.Atoms.made(1_000, claim) < 50
      end

      test "a wrong option is refused with its path" do
        error = assert_raise ArgumentError, fn -> @store.child_spec({:n, max_proofs: 0}) end
        assert error.message =~ "option replay_store.max_proofs"
      end

      defp start(context, options \\ []) do
        options = options ++ [clock: fn -> :counters.get(context.clock, 1) end]
        start_supervised!(@store.child_spec({context.namespace, options}))
        context.namespace
      end
    end
  end

  @doc "Whether the check holds within a second."
  def eventually(check, tries \\ 200) do
    cond do
      check.() -> true
      tries == 0 -> false
      true -> Process.sleep(5) && eventually(check, tries - 1)
    end
  end
end
