defmodule BeamMCP.Test.DocsCode do
  @moduledoc """
  Compiles and evaluates what documents show.

  Listeners get ports of the system's choice on this machine, whatever the text says.
  """

  import ExUnit.CaptureIO

  @doc "Whether a block is an expression, and not modules or functions."
  @spec expression?(BeamMCP.Test.Docs.Block.t()) :: boolean()
  def expression?(block), do: not (block.text =~ ~r/\A(#.*\n)*(defmodule|defp?|-module)\b/)

  @doc "Compiles the modules of a block. Returns what the compiler complained about."
  @spec compile(BeamMCP.Test.Docs.Block.t()) :: String.t()
  def compile(%{language: "erlang"} = block) do
    [_all, module] = Regex.run(~r/^-module\((\w+)\)\.$/m, block.text)
    directory = Path.join(System.tmp_dir!(), "docs-#{System.unique_integer([:positive])}")
    file = Path.join(directory, module <> ".erl")
    File.mkdir_p!(directory)
    File.write!(file, local(block.text))
    {:ok, module, code, warnings} = :compile.file(to_charlist(file), [:binary, :return])
    File.rm_rf!(directory)
    {:module, ^module} = :code.load_binary(module, to_charlist(file), code)
    if warnings == [], do: "", else: inspect(warnings)
  end

  def compile(block) do
    capture_io(:stderr, fn -> block |> module() |> local() |> Code.compile_string(block.file) end)
  end

  @doc """
  Runs the tests of modules that are shown, in the calling process. They are not in the suite.

  Returns how many there were.
  """
  @spec run_tests(BeamMCP.Test.Docs.Block.t()) :: non_neg_integer()
  def run_tests(block) do
    module = shown_module(block)
    tests = module.__ex_unit__().tests

    for test <- tests do
      context = Map.merge(test.tags, %{module: module, test: test.name})
      apply(module, test.name, [module.__ex_unit__(:setup, context)])
    end

    length(tests)
  end

  @doc "Whether a block is a module of tests."
  @spec tests?(BeamMCP.Test.Docs.Block.t()) :: boolean()
  def tests?(block), do: block.text =~ "use ExUnit.Case"

  @doc "The module in which functions live that are shown without one."
  @spec module_of(BeamMCP.Test.Docs.Block.t()) :: module()
  def module_of(block), do: Module.concat(__MODULE__, "Line#{block.line}")

  @typedoc "What earlier expressions bound, and which aliases they made."
  @type state :: {keyword(), Macro.Env.t()}

  @doc "The value of an expression that stands alone."
  @spec value(BeamMCP.Test.Docs.Block.t()) :: term()
  def value(block), do: block |> value(state()) |> elem(0)

  @doc "The value of an expression that follows others."
  @spec value(BeamMCP.Test.Docs.Block.t(), state()) :: {term(), state()}
  def value(block, {bindings, env}) do
    place = [file: block.file, line: block.line]
    quoted = Code.string_to_quoted!(local(block.text), place)
    {value, bindings, env} = Code.eval_quoted_with_env(quoted, bindings, struct!(env, place))
    {value, {bindings, env}}
  end

  @doc "Nothing bound."
  @spec state() :: state()
  def state, do: {[], Code.env_for_eval([])}

  defp shown_module(block) do
    [_all, name] = Regex.run(~r/^defmodule ([\w.]+) do$/m, block.text)
    Module.concat([name])
  end

  defp module(%{text: "defmodule" <> _rest = text}), do: text
  defp module(%{text: "#" <> _rest = text}), do: text

  defp module(block) do
    public = Regex.replace(~r/^defp /m, block.text, "def ")
    "defmodule #{inspect(module_of(block))} do\n#{public}end\n"
  end

  defp local(text) do
    text
    |> String.replace("port: 4040", "port: 0")
    |> String.replace("{port, 4040}", "{port, 0}")
    |> String.replace("0.0.0.0", "127.0.0.1")
    # The suite is complete by now.
    |> String.replace("use ExUnit.Case, async: true", "use ExUnit.Case, register: false")
  end
end
