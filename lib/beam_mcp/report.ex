defmodule BeamMCP.Report do
  @moduledoc """
  What the option `exception_reporter` gets of a handler that failed: everything, arguments that
  an exception or a stack trace holds included. It stays on the host's side.

    * `kind`, `reason`, `stacktrace` - as `catch` has them; an answer that cannot be sent is an
      `:error` with an `ArgumentError`
    * `offer` - what was run: `{:tool, name}`, `{:resource, uri}`, `{:prompt, name}` or
      `{:completion, ref}`, as declared
    * `context` - the `BeamMCP.Context` that the handler got
  """

  @enforce_keys [:kind, :reason, :stacktrace, :offer, :context]
  defstruct @enforce_keys

  @typedoc "One failure."
  @type t :: %__MODULE__{
          kind: :error | :exit | :throw,
          reason: term(),
          stacktrace: Exception.stacktrace(),
          offer: {:tool | :resource | :prompt | :completion, term()},
          context: BeamMCP.Context.t()
        }
end
