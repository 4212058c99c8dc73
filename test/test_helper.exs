# Integration tests build releases and start other runtimes; `bin/test` includes them.
ExUnit.start(exclude: [:integration], capture_log: true)
