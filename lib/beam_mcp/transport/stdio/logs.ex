defmodule BeamMCP.Transport.Stdio.Logs do
  @moduledoc false
  # Sends the log to standard error: standard output belongs to the client.
  #
  # Up to Elixir 1.14 the console is a backend of Logger, from 1.15 on it is the default handler
  # of Erlang's logger, whose device cannot change while it runs.

  @spec to_standard_error() :: :ok
  def to_standard_error do
    console_backend()
    default_handler(:logger.get_handler_config(:default))
  end

  defp console_backend do
    if Code.ensure_loaded?(Logger.Backends.Console) and
         function_exported?(Logger, :configure_backend, 2) do
      # Through apply/3: deprecated where it is not needed.
      apply(Logger, :configure_backend, [:console, [device: :standard_error]])
    end
  end

  defp default_handler({:ok, %{module: :logger_std_h, config: %{type: :standard_io}} = handler}) do
    :ok = :logger.remove_handler(:default)
    kept = Map.take(handler, [:level, :filters, :filter_default, :formatter])
    :logger.add_handler(:default, :logger_std_h, Map.put(kept, :config, %{type: :standard_error}))
  end

  defp default_handler(_elsewhere), do: :ok
end
