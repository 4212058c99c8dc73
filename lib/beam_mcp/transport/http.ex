defmodule BeamMCP.Transport.HTTP do
  @moduledoc """
  Streamable HTTP, served by the native listener: HTTP/1.1 and HTTP/2 without a web server.

  A child specification with one listener takes the options of the instance and of the listener
  side by side:

      children = [
        {BeamMCP.Transport.HTTP,
         catalog: MyApp.Catalog,
         dispatch: &MyApp.Tools.call/3,
         authorize: &MyApp.Auth.check/1,
         allowed_origins: ["https://app.example.com"],
         port: 4040}
      ]

  It is short for `{BeamMCP, catalog: .., dispatch: .., http: [authorize: .., ..]}`.

  ## Options of a listener

  #{BeamMCP.Options.docs(:http)}

  ## Hooks

  With `authorize: {:oauth, options}` access tokens decide, see `BeamMCP.OAuth`. Otherwise
  `authorize` is called with a `BeamMCP.Request` before the body is read. It answers

    * `:ok` - served, the principal is `:anonymous`
    * `{:ok, principal}` - served as `principal`
    * `{:ok, principal, scopes}` - the same with a list of scopes: a method that needs one that is
      not among them is refused with 403 (`scope_map`, `default_scopes`, `implies`)
    * `{:error, {:unauthenticated, challenge}}` - 401 with `challenge` as `WWW-Authenticate`
    * `{:error, reason}` - 403; the reason goes to the log, never to the caller

  Anything else, and a raise, is answered with 500; no answer within `hook_timeout_ms` with 503.
  Each request runs its hook in a process of its own.

  `authorize_body` is called with the request and the raw bytes of its body, before they are
  decoded. `:ok` serves; `{:error, reason}` is 403; anything else, and a raise, is 500.

  `init/1` and `call/2` are reserved for use as a Plug.
  """

  alias BeamMCP.Options

  @doc "The instance with one listener, see the options above and those of `BeamMCP`."
  @spec child_spec(keyword()) :: Supervisor.child_spec()
  def child_spec(options), do: options |> instance() |> BeamMCP.child_spec()

  @doc "Starts what `child_spec/1` describes, linked to the caller."
  @spec start_link(keyword()) :: {:ok, pid()} | {:error, BeamMCP.Error.t()}
  def start_link(options), do: options |> instance() |> BeamMCP.start_link()

  defp instance(options) do
    options = Options.only!(options, Options.keys(:http) ++ (Options.keys(:instance) -- [:http]))
    {http, instance} = Keyword.split(options, Options.keys(:http))
    Keyword.put(instance, :http, http)
  end
end
