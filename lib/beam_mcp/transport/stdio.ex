defmodule BeamMCP.Transport.Stdio do
  @moduledoc """
  MCP over standard input and output (MCP 2026-07-28 basic/transports/stdio).

      BeamMCP.Transport.Stdio.run(catalog: MyApp.Catalog, dispatch: &MyApp.Tools.call/3)

  ## Options

  Those of `BeamMCP` and

  #{BeamMCP.Options.docs(:stdio)}

  ## Three ways to reach the client

    * Through a launcher (recommended): a script moves the client's pipes to descriptors of their
      own before the VM starts, `exec 3<&0 4>&1 0</dev/null 1>&2` with `BEAM_MCP_STDIO=3,4`.
      Nothing that the VM, a library or a port program prints can reach the client.
    * With `-noinput` (`mix run --erl "-noinput"`, `erl -noinput`): the native library takes over
      descriptors 0 and 1 when `run/1` is called. What was printed before has reached the client.
    * With neither: lines come through the VM's own reader. It has buffered them already, so
      `max_line_bytes` bounds what is accepted, not what is held. While the client does not read,
      at most 16 answers wait in the mailbox of the caller of `run/1`.
  """

  alias BeamMCP.{Error, Identity, Instance, Native, Options, Scopes}
  alias BeamMCP.Transport.Stdio.{Logs, Reader, Signal}

  @doc """
  Serves one client until its input ends, then returns `:ok`.

  At the end of input, or at SIGTERM, running calls get `drain_timeout_ms`, what they answered is
  written, and the instance stops. Log lines go to standard error from here on.

  Raises `ArgumentError` for a wrong option; returns `{:error, error}` when the instance cannot
  start or output fails.
  """
  @spec run(keyword()) :: :ok | {:error, Error.t()}
  def run(options) do
    options = Options.only!(options, Enum.uniq(Options.keys(:stdio) ++ Options.keys(:instance)))
    {stdio, options} = Keyword.split(options, Options.keys(:stdio))
    settings = Options.validate!(:stdio, stdio)
    :ok = Logs.to_standard_error()

    with {:ok, supervisor} <-
           BeamMCP.start_link([drain_timeout_ms: settings.drain_timeout_ms] ++ options) do
      result = serve(Keyword.get(options, :name, BeamMCP), settings)
      Supervisor.stop(supervisor)
      result
    else
      {:error, %Error{kind: :already_started} = error} -> {:error, in_the_way(error)}
      {:error, error} -> {:error, error}
    end
  end

  # As a rule it is the one that serves HTTP, in a VM that was started for one client.
  defp in_the_way(error) do
    message =
      "an instance named #{inspect(error.details.name)} runs already in this VM; start none where " <>
        "BEAM_MCP_STDIO is set (README, \"stdio from a release\"), or give this one a `name` of its own"

    %{error | message: message}
  end

  defp serve(name, settings) do
    {:ok, instance} = Instance.fetch(name)
    mode = mode(System.get_env("BEAM_MCP_STDIO"), :init.get_argument(:noinput))

    scopes = settings.scopes || Scopes.of_methods(instance.config)
    identity = Identity.encode(settings.principal, scopes)
    options = Map.merge(settings, %{mode: mode, identity: identity, scopes: scopes})

    case Native.start_stdio(instance.native, options) do
      {:ok, pipe} -> serve_pipe(pipe, mode)
      {:error, reason} -> {:error, Error.native(reason)}
    end
  end

  defp serve_pipe(pipe, mode) do
    :ok = Signal.close_on_sigterm(pipe)
    if mode == :lines, do: Reader.start_link(pipe)
    await_end(pipe)
  after
    Signal.restore()
  end

  @doc false
  @spec mode(String.t() | nil, {:ok, term()} | :error) ::
          {:descriptors, integer(), integer()} | :lines
  def mode(nil, {:ok, _flags}), do: {:descriptors, 0, 1}
  def mode(nil, :error), do: :lines

  def mode(descriptors, _noinput) do
    with [input, output] <- String.split(descriptors, ","),
         {input, ""} <- Integer.parse(input),
         {output, ""} <- Integer.parse(output) do
      {:descriptors, input, output}
    else
      _other ->
        raise ArgumentError,
              "BEAM_MCP_STDIO must be two descriptors such as 3,4, got: #{inspect(descriptors)}"
    end
  end

  defp await_end(pipe) do
    receive do
      {:beam_mcp, :stdio_write, line} ->
        Reader.write(line)
        Native.stdio_written(pipe)
        await_end(pipe)

      {:beam_mcp, :stdio_end, _number, {:error, text}} ->
        {:error, Error.native({:stdio, text})}

      {:beam_mcp, :stdio_end, _number, _eof_or_exit} ->
        :ok
    end
  end
end
