defmodule BeamMCP.Catalog do
  @moduledoc """
  What a host offers.

      defmodule MyApp.Catalog do
        @behaviour BeamMCP.Catalog

        alias BeamMCP.{PromptArgument, PromptSpec, ResourceSpec, ToolSpec}

        @impl true
        def capabilities do
          %{
            tools: [
              %ToolSpec{
                name: :get_weather,
                description: "Reads the current weather of a place.",
                input_schema: %{
                  "type" => "object",
                  "properties" => %{"place" => %{"type" => "string"}},
                  "required" => ["place"]
                }
              }
            ],
            resources: [%ResourceSpec{uri: "weather:stations", name: "stations"}],
            prompts: [
              %PromptSpec{
                name: :compare,
                arguments: [%PromptArgument{name: :place, required: true}]
              }
            ]
          }
        end

        @impl true
        def read_resource("weather:stations", _context), do: {:ok, "Oslo, Bergen"}

        @impl true
        def get_prompt(:compare, %{place: place}, _context) do
          {:ok, "Compare today's weather in \#{place} with last week's."}
        end
      end

  The order of a list is the order in which its definitions are served. A definition may bring its
  own `handler`; the callbacks are for those that do not. At start, a definition that has neither
  is refused, with everything else that is wrong in the catalog.
  """

  alias BeamMCP.{Context, PromptSpec, ResourceSpec, ResourceTemplateSpec, Result, ToolSpec}

  @typedoc """
  `tools`, `resources` and `prompts` are required; an absent one, and any other key, is refused at
  start.
  """
  @type capabilities :: %{
          required(:tools) => [ToolSpec.t()],
          required(:resources) => [ResourceSpec.t()],
          required(:prompts) => [PromptSpec.t()],
          optional(:templates) => [ResourceTemplateSpec.t()]
        }

  @typedoc """
  What is to be completed: the name of an argument or variable, what was typed of its value, and
  the arguments that have theirs already, with string keys.
  """
  @type argument :: %{
          name: String.t(),
          value: String.t(),
          arguments: %{String.t() => String.t()}
        }

  @typedoc """
  A failure. A text is shown to the caller, as is the text of a `BeamMCP.Result.SafeError`, with
  the code -32603; of any other reason the caller learns nothing. In a read, `:not_found` says that
  there is no such resource.
  """
  @type failure :: {:error, String.t() | Result.SafeError.t() | :not_found | term()}

  @doc """
  The definitions that every caller sees.

  Called by the instance's catalog process at start and after `BeamMCP.catalog_changed/1`.
  """
  @callback capabilities() :: capabilities()

  @doc """
  The definitions that one caller sees, in place of those of `c:capabilities/0`.

  Called for each request that needs them, and for each change of a resource and each client that
  subscribed to it, in a process of its own. What is compiled from them is kept, so equal answers
  cost little. Arguments of these definitions keep string keys. A faulty definition is left out of
  that answer and logged.
  """
  @callback capabilities(Context.t()) :: capabilities()

  @doc """
  Reads a resource, or one of a template's, for definitions without a handler of their own.

  Called in a process of its own for each read. It returns

    * `{:ok, text}` - contents of one text, with the definition's MIME type
    * `{:ok, contents}` - one or a list of what `BeamMCP.Content.resource_text/3` and
      `BeamMCP.Content.resource_blob/3` make, or such maps; `uri` and `mimeType` may be left out,
      they are then those of the request and of the definition
    * `%BeamMCP.Result.Resource{}`, or `{:ok, resource}` - the same with `_meta` and cache hints
    * a `t:failure/0`

  Anything else, a raise, a throw, an exit and an empty list are faults of the host: the log tells
  what happened, the caller gets -32603.
  """
  @callback read_resource(uri :: String.t(), Context.t()) ::
              {:ok, String.t() | map() | [map()] | Result.Resource.t()}
              | Result.Resource.t()
              | failure()

  @doc """
  Fills in a prompt, for definitions without a handler of their own.

  `name` is the prompt's name as declared. Required arguments are there. Those that are declared
  come under atom keys, others under string keys; every value is a string. It returns

    * `{:ok, text}` - one message of the user
    * `{:ok, messages}` - one or a list of what `BeamMCP.Content.prompt_message/2` makes
    * `%BeamMCP.Result.Prompt{}`, or `{:ok, prompt}` - the same with a description and `_meta`
    * a `t:failure/0`
  """
  @callback get_prompt(name :: atom() | String.t(), arguments :: map(), Context.t()) ::
              {:ok, String.t() | map() | [map()] | Result.Prompt.t()}
              | Result.Prompt.t()
              | failure()

  @doc """
  Completes an argument that no definition completes.

  It returns `{:ok, values}` with the best first, `%BeamMCP.Result.Completion{}` or
  `{:ok, completion}` to say how many there are in all, or a `t:failure/0`. The caller gets at most
  100 and is told that there are more.
  """
  @callback complete({:prompt | :resource, String.t()}, argument(), Context.t()) ::
              {:ok, [String.t()] | Result.Completion.t()} | Result.Completion.t() | failure()

  @optional_callbacks capabilities: 1, read_resource: 2, get_prompt: 3, complete: 3
end
