defmodule BeamMCP.ValuesTest do
  use ExUnit.Case, async: true

  doctest BeamMCP.Error
  doctest BeamMCP.Listener
  doctest BeamMCP.Request

  test "a listener on IPv6 and on a Unix-domain socket" do
    listener = %BeamMCP.Listener{
      resource: nil,
      address: {:tcp, {0, 0, 0, 0, 0, 0, 0, 1}, 80},
      path: "/mcp"
    }

    assert BeamMCP.Listener.url(listener) == "http://[::1]:80/mcp"
    socket = %{listener | address: {:unix, "/tmp/s"}}
    assert inspect(socket) == "#BeamMCP.Listener</tmp/s>"
    assert BeamMCP.Listener.port(socket) == nil
  end

  test "what addresses no running instance says so" do
    for result <- [
          BeamMCP.info(:none),
          BeamMCP.drain(:none, 0),
          BeamMCP.catalog_changed(:none),
          BeamMCP.stop(:none)
        ] do
      assert {:error, %BeamMCP.Error{kind: :not_running} = error} = result
      assert Exception.message(error) == "no instance named :none runs"
    end

    assert_raise BeamMCP.Error, fn -> BeamMCP.info!(:none) end
  end
end
