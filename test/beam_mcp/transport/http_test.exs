defmodule BeamMCP.Transport.HTTPTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias BeamMCP.Transport.HTTP

  test "puts the options of its listener apart" do
    spec = HTTP.child_spec(name: :short, authorize: :none, allowed_origins: [], port: 0)
    assert %{id: :short, start: {BeamMCP, :start_sealed, [sealed]}} = spec
    options = sealed.()
    assert Keyword.keys(options) -- [:http, :name] == []
    assert Enum.sort(options[:http]) == [allowed_origins: [], authorize: :none, port: 0]
  end

  test "says in the log where it listens" do
    options = [name: :heard, authorize: :none, allowed_origins: [], port: 0]
    log = capture_log(fn -> start_supervised!({HTTP, options}) end)
    [listener] = BeamMCP.info!(:heard).listeners
    assert log =~ "[BeamMCP] :heard listens on #{BeamMCP.Listener.url(listener)}"
  end

  test "knows the options of both, and no list of listeners" do
    for {wrong, meant} <- [authorise: "authorize", sever_name: "server_name"] do
      error = assert_raise ArgumentError, fn -> HTTP.child_spec([{wrong, :none}]) end
      assert error.message =~ "unknown option #{wrong} (did you mean #{meant}?)"
    end

    assert_raise ArgumentError, ~r/unknown option http;/, fn -> HTTP.start_link(http: []) end
  end
end
