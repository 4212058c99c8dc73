defmodule BeamMCP.Handler do
  @moduledoc """
  A function of the host's, as definitions and options name it.

  A function is best given as `&Module.function/2`: it then survives an upgrade of its module, and
  finding it copies nothing.
  """

  @typedoc """
  A function, `{module, function}` or `{module, function, extra_arguments}`; the extra arguments
  come last.
  """
  @type declared ::
          (term() -> term())
          | (term(), term() -> term())
          | {module(), atom()}
          | {module(), atom(), [term()]}

  @typedoc "One that exists; the arity says how many of the arguments offered it takes."
  @type t ::
          {:fun, fun(), arity()}
          | {:mfa, module(), atom(), extra :: [term()], arity()}

  @doc """
  Finds the function; the first arity that it has is taken.

      iex> BeamMCP.Handler.new({String, :split}, [2, 1])
      {:ok, {:mfa, String, :split, [], 2}}

      iex> BeamMCP.Handler.new({String, :splitt}, [2, 1])
      :error

      iex> BeamMCP.Handler.new(Function.capture(String, :splitt, 2), [2, 1])
      :error
  """
  @spec new(term(), [arity()]) :: {:ok, t()} | :error
  def new(fun, arities) when is_function(fun) do
    case Enum.find(arities, &is_function(fun, &1)) do
      nil -> :error
      arity -> if exists?(fun, arity), do: {:ok, {:fun, fun, arity}}, else: :error
    end
  end

  def new({module, function}, arities), do: new({module, function, []}, arities)

  def new({module, function, extra}, arities)
      when is_atom(module) and is_atom(function) and is_list(extra) do
    case Enum.find(arities, &exports?(module, function, &1 + length(extra))) do
      nil -> :error
      arity -> {:ok, {:mfa, module, function, extra, arity}}
    end
  end

  def new(_other, _arities), do: :error

  @doc "Whether a function can be called: `&Module.function/2` is one although there is none."
  @spec exists?(fun(), arity()) :: boolean()
  def exists?(fun, arity) do
    case Function.info(fun, :type) do
      {:type, :local} -> true
      {:type, :external} -> exports?(info(fun, :module), info(fun, :name), arity)
    end
  end

  @doc "Calls it with as many of `arguments` as it takes."
  @spec call(t(), [term()]) :: term()
  def call({:fun, fun, 2}, [one, two | _rest]), do: fun.(one, two)
  def call({:fun, fun, arity}, arguments), do: apply(fun, Enum.take(arguments, arity))

  def call({:mfa, module, function, extra, arity}, arguments) do
    apply(module, function, Enum.take(arguments, arity) ++ extra)
  end

  @doc "Whether `module` can be loaded and has the function."
  @spec exports?(module(), atom(), arity()) :: boolean()
  def exports?(module, function, arity) do
    Code.ensure_loaded?(module) and function_exported?(module, function, arity)
  end

  defp info(fun, key) do
    {^key, value} = Function.info(fun, key)
    value
  end
end
