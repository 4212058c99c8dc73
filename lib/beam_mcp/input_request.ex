defmodule BeamMCP.InputRequest do
  @moduledoc """
  What a handler asks the client for, as a value: `BeamMCP.Context.ask/3` takes several.

      alias BeamMCP.{Context, InputRequest}

      Context.ask(context, %{
        name: InputRequest.form("What is your name?", name_schema),
        roots: InputRequest.roots()
      })

  A form and a visit are elicitation (MCP client/elicitation); sampling and roots are deprecated
  in 2026-07-28 and work in every revision. What is asked is checked where it is asked: a form
  with a nested field, a URL that is none, or a message of an unknown role raises `ArgumentError`
  and names the place.
  """

  alias BeamMCP.Kind

  @enforce_keys [:kind, :method, :params]
  defstruct @enforce_keys

  @typedoc "A request that was not sent yet."
  @type t :: %__MODULE__{
          kind: :form | :url | :sampling | :roots,
          method: String.t(),
          params: map()
        }

  @doc """
  A form for the user to fill in.

  `schema` is a JSON schema of type object whose properties are strings (with `minLength`,
  `maxLength`, `format`), numbers and integers (with `minimum`, `maximum`), booleans, choices of
  one (`enum`, or `oneOf` with `const` and `title`) or of several (type array, with `items`), all
  with `title`, `description` and `default`. Nothing is nested, and nothing else is allowed. For
  2025-06-18 clients the choices are said in that revision's words, without defaults of other types
  than boolean; it has no choice of several.

  Passwords, keys and payment data must not be asked for in a form: send the user to a page of
  yours with `url/2`.
  """
  @spec form(String.t(), map()) :: t()
  def form(message, schema) do
    map!(schema, "the schema of a form")
    params = %{mode: "form", message: text!(message), requestedSchema: schema}
    %__MODULE__{kind: :form, method: "elicitation/create", params: params}
  end

  @doc """
  A page for the user to visit, with the reason. The user's consent is all that comes back: whether
  what happens there has happened, the page tells the host.

  The URL holds no secret and grants nothing by itself; the page makes sure that who opens it is
  who started the call. 2025-06-18 clients cannot be asked. `id` is what
  `BeamMCP.Context.elicitation_complete/2` tells a 2025-11-25 client by, and unique on your server.
  """
  @spec url(String.t(), String.t(), String.t() | nil) :: t()
  def url(message, url, id \\ nil) do
    params = %{mode: "url", message: text!(message), url: text!(url)}
    params = if id == nil, do: params, else: Map.put(params, :elicitationId, text!(id))
    %__MODULE__{kind: :url, method: "elicitation/create", params: params}
  end

  @doc """
  A message that the client's model writes.

  `params` is what MCP client/sampling names: `messages` and `maxTokens`, and perhaps
  `systemPrompt`, `modelPreferences`, `temperature`, `stopSequences`, `metadata`, `includeContext`,
  `tools` and `toolChoice`. Messages are made with `BeamMCP.Content.prompt_message/2`.
  """
  @spec sample(map()) :: t()
  def sample(params) do
    map!(params, "the parameters of sampling")
    %__MODULE__{kind: :sampling, method: "sampling/createMessage", params: params}
  end

  @doc "The directories and files that the client works in."
  @spec roots() :: t()
  def roots, do: %__MODULE__{kind: :roots, method: "roots/list", params: %{}}

  defp text!(text) do
    if is_binary(text) and String.valid?(text),
      do: text,
      else: raise(ArgumentError, "expected a UTF-8 string, got #{Kind.of(text)}")
  end

  defp map!(map, _what) when is_map(map) and not is_struct(map), do: :ok

  defp map!(other, what),
    do: raise(ArgumentError, "expected a map as #{what}, got #{Kind.of(other)}")
end
