defmodule BeamMCP.HookTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.{Hook, Instance, Request}

  @identity :erlang.term_to_binary({:alice, nil, nil, nil, nil})

  defp authorize(answer) do
    hook = fn %Request{method: "POST"} -> if is_function(answer), do: answer.(), else: answer end
    {instance, number} = instance(hook, nil)
    Hook.authorize(instance, number, %Request{method: "POST"})
  end

  defp authorize_body(answer) do
    hook = fn %Request{}, "body" -> answer end
    {instance, number} = instance(fn _request -> :ok end, hook)
    Hook.authorize_body(instance, number, %Request{}, "body")
  end

  defp instance(authorize, authorize_body) do
    instance = struct(Instance, hooks: :ets.new(:hooks, [:public]))

    {instance,
     Instance.add_hooks(instance, %{authorize: authorize, authorize_body: authorize_body}, 0)}
  end

  test "authorize answers who calls" do
    principal = :erlang.term_to_binary(:alice, [:deterministic])
    scoped = :erlang.term_to_binary({:alice, ["a"], nil, nil, nil})
    assert authorize(:ok) == :accept
    assert authorize({:ok, :alice}) == {:accept, principal, @identity, nil}
    assert authorize({:ok, :alice, ["a"]}) == {:accept, principal, scoped, ["a"]}
    assert authorize({:error, {:unauthenticated, "Bearer"}}) == {:challenge, "Bearer"}
  end

  test "a refusal tells the log why, without what came along" do
    log = capture_log(fn -> assert authorize({:error, {:bad_key, "swordfish"}}) == :deny end)
    assert log =~ "authorize refused a request"
    refute log =~ "swordfish"
  end

  test "another answer, a raise, a throw and an exit fail" do
    for wrong <- [
          true,
          {:ok, :alice, "a"},
          {:ok, :alice, [:a]},
          {:error, {:unauthenticated, 1}, 2},
          {:error, {:unauthenticated, "Bearer \r\nX: y"}},
          fn -> raise "no" end,
          fn -> throw(:no) end,
          fn -> exit(:no) end
        ] do
      log = capture_log(fn -> assert authorize(wrong) == :failed end)
      assert log =~ "[BeamMCP] authorize"
    end
  end

  test "authorize_body gets the raw bytes and can only serve or refuse" do
    assert authorize_body(:ok) == :accept

    assert capture_log(fn -> assert authorize_body({:error, :bad_signature}) == :deny end) =~
             "bad_signature"

    assert capture_log(fn -> assert authorize_body({:ok, :alice}) == :failed end) =~
             "authorize_body answered"
  end

  test "a module, a function and further arguments" do
    {instance, number} = instance({__MODULE__, :check, [:extra]}, nil)
    assert {:accept, _principal, _identity, nil} = Hook.authorize(instance, number, %Request{})
  end

  test "the hooks of a closed listener fail" do
    {instance, number} = instance(fn _request -> :ok end, nil)
    Instance.remove_hooks(instance, number)
    assert Hook.authorize(instance, number, %Request{}) == :failed
  end

  def check(%Request{}, :extra), do: {:ok, :alice}
end
