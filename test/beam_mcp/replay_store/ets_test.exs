defmodule BeamMCP.ReplayStore.ETSTest do
  use ExUnit.Case, async: true

  alias BeamMCP.ReplayStore.ETS

  setup do
    clock = :counters.new(1, [])

    {:ok,
     namespace: make_ref(), clock: clock, options: [clock: fn -> :counters.get(clock, 1) end]}
  end

  defp start(context, options \\ []) do
    start_supervised!(ETS.child_spec({context.namespace, options ++ context.options}))
    context.namespace
  end

  test "a proof is new once, and again when its time is over", context do
    namespace = start(context)
    assert ETS.claim(namespace, "a", 91) == :new
    assert ETS.claim(namespace, "b", 91) == :new
    :counters.put(context.clock, 1, 90_999)
    assert ETS.claim(namespace, "a", 91) == :seen
    :counters.put(context.clock, 1, 91_000)
    assert ETS.claim(namespace, "a", 91) == :new
    assert ETS.claim(namespace, "a", 91) == :seen
  end

  test "of many at the same time one is new", context do
    namespace = start(context)

    for round <- 1..20 do
      :counters.put(context.clock, 1, round * 91_000)

      answers =
        1..50
        |> Enum.map(fn _copy -> Task.async(fn -> ETS.claim(namespace, "a", 91) end) end)
        |> Task.await_many()

      assert Enum.count(answers, &(&1 == :new)) == 1
    end
  end

  test "a full store takes none", context do
    namespace = start(context, max_proofs: 2)
    assert ETS.claim(namespace, "a", 91) == :new
    assert ETS.claim(namespace, "b", 91) == :new
    assert ETS.claim(namespace, "c", 91) == {:error, :full}
  end

  test "what is too old is swept away", context do
    namespace = start(context, max_proofs: 1, sweep_interval_ms: 5)
    assert ETS.claim(namespace, "a", 91) == :new
    :counters.put(context.clock, 1, 91_000)
    assert eventually(fn -> ETS.claim(namespace, "b", 91) == :new end)
  end

  test "a wrong option is refused with its path" do
    error = assert_raise ArgumentError, fn -> ETS.child_spec({:n, max_proofs: 0}) end
    assert error.message =~ "option replay_store.max_proofs"
  end

  defp eventually(check, tries \\ 200) do
    cond do
      check.() -> true
      tries == 0 -> false
      true -> Process.sleep(5) && eventually(check, tries - 1)
    end
  end
end
