defmodule BeamMCP.SessionStore.AnswerTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.SessionStore

  defmodule Store do
    @moduledoc false
    def create(namespace, _session), do: {:ok, namespace}
  end

  test "an id that no header can hold is the store's fault" do
    for id <- ["", "a\r\nb", "a b", "é", String.duplicate("a", 257), :atom] do
      log =
        capture_log(fn -> assert SessionStore.answer({Store, id}, {:create, %{}}) == :failed end)

      assert log =~ "1 to 256 visible ASCII characters"
    end

    assert SessionStore.answer({Store, "a-1"}, {:create, %{}}) == {:created, "a-1"}
  end
end
