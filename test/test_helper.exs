# Integration tests build releases and start other runtimes; `bin/test` includes them.
ExUnit.start(exclude: [:integration], capture_log: true)

# Elixir 1.15 and later leave out of the path what no application names; connectomes need xref.
if function_exported?(Mix, :ensure_application!, 1), do: Mix.ensure_application!(:tools)
