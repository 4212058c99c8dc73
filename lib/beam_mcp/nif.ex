defmodule BeamMCP.NIF do
  @moduledoc false
  # Stubs of the native library, nothing else: `BeamMCP.Native` documents and calls them. The
  # module is never upgraded in a running VM (the library's threads outlive it).

  @on_load :load

  @doc false
  def load do
    :beam_mcp
    |> :code.priv_dir()
    |> Path.join("native/beam_mcp_nif")
    |> to_charlist()
    |> :erlang.load_nif(0)
  end

  def instance_new(_config), do: missing()
  def catalog_compile(_instance, _definitions), do: missing()
  def catalog_edit(_instance, _catalog, _edits), do: missing()
  def catalog_differences(_catalog, _other), do: missing()
  def catalog_put(_instance, _catalog), do: missing()
  def catalog_owner(_instance, _pid), do: missing()
  def catalog_released(_instance, _max), do: missing()
  def catalog_digest(_instance), do: missing()
  def catalog_digests(_catalog), do: missing()
  def dispatcher_add(_instance, _pid), do: missing()
  def events_to(_instance, _pid), do: missing()
  def events(_instance, _max), do: missing()
  def scopes_check(_options), do: missing()
  def guard_keys(_guard, _issuer, _jwks), do: missing()
  def fetch(_url, _allow_private?, _pid, _ref), do: missing()
  def guard_new(_options), do: missing()
  def http_start(_instance, _options, _owner), do: missing()
  def http_drain(_listener, _pid, _ref, _timeout_ms), do: missing()
  def http_stop(_listener), do: missing()
  def stdio_start(_instance, _options, _owner), do: missing()
  def stdio_line(_pipe, _line), do: missing()
  def stdio_written(_pipe), do: missing()
  def stdio_close(_pipe), do: missing()
  def accept(_instance, _call), do: missing()
  def accept_large(_instance, _call), do: missing()
  def reply(_token, _answer), do: missing()
  def reply_large(_token, _answer), do: missing()
  def workers(_instance), do: missing()
  def cancelled(_instance, _call), do: missing()
  def notify(_instance, _call, _message), do: missing()
  def ask(_instance, _call, _questions, _optional?), do: missing()
  def answers(_instance, _call), do: missing()
  def supports(_instance, _call, _kind), do: missing()
  def publish(_instance, _change), do: missing()
  def info(_instance), do: missing()
  def encode(_term), do: missing()
  def encode_large(_term), do: missing()
  def decode(_json), do: missing()
  def nif_times, do: missing()
  def nif_times_reset, do: missing()

  defp missing, do: :erlang.nif_error(:native_library_not_loaded)
end
