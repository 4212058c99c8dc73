# Integration tests build releases and start other runtimes, exhaustive ones go through thousands of cases that no
# version of Elixir makes a difference to; `bin/test` includes both.
# A busy machine takes longer than the default 100 ms to send a message that will come.
ExUnit.start(
  exclude: [:integration, :exhaustive],
  capture_log: true,
  assert_receive_timeout: 5_000
)

# Elixir 1.15 and later leave out of the path what no application names; connectomes need xref.
if function_exported?(Mix, :ensure_application!, 1), do: Mix.ensure_application!(:tools)
