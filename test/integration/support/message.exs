defmodule BeamMCP.Test.Message do
  @moduledoc false
  # Lines that a client writes; ids and arguments are given as JSON text.

  @meta ~S("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",) <>
          ~S("io.modelcontextprotocol/clientCapabilities":{}})

  @doc "A modern request."
  def request(id, method, params \\ "") do
    separator = if params == "", do: "", else: ","

    ~s({"jsonrpc":"2.0","id":#{id},"method":"#{method}","params":{#{params}#{separator}#{@meta}}})
  end

  @doc "A modern `tools/call`."
  def call(id, tool, arguments \\ "{}") do
    request(id, "tools/call", ~s("name":"#{tool}","arguments":#{arguments}))
  end

  @doc "A legacy request."
  def legacy(id, method, params \\ "{}") do
    ~s({"jsonrpc":"2.0","id":#{id},"method":"#{method}","params":#{params}})
  end

  @doc "A legacy `initialize`."
  def initialize(id, revision \\ "2025-11-25") do
    params =
      ~s({"protocolVersion":"#{revision}","capabilities":{},) <>
        ~s("clientInfo":{"name":"test","version":"1"}})

    legacy(id, "initialize", params)
  end

  @doc "A notification that cancels a request."
  def cancel(id) do
    notification("notifications/cancelled", ~s({"requestId":#{id}}))
  end

  @doc "A notification."
  def notification(method, params \\ "{}") do
    ~s({"jsonrpc":"2.0","method":"#{method}","params":#{params}})
  end
end
