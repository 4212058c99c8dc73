defmodule BeamMCP.App do
  @moduledoc """
  Tools that are shown as an app: a page of HTML that the client's application puts into a frame
  beside the conversation (MCP Apps, extension `io.modelcontextprotocol/ui`).

  A page is a resource with a URI of scheme `ui://`, and a tool names it in its `_meta`. `page/3`
  makes the one, `tool_meta/2` the other:

      BeamMCP.register_all(MyApp.MCP, [
        BeamMCP.App.page("ui://clock/main.html", File.read!("priv/clock.html"), name: "clock"),
        {:tool,
         %BeamMCP.ToolSpec{
           name: "clock",
           description: "Tells the time.",
           _meta: BeamMCP.App.tool_meta("ui://clock/main.html")
         },
         &MyApp.Clock.now/2}
      ])

  The page gets the tool's arguments and its result from the application that shows it; nothing of
  that reaches the server, which sees ordinary calls. A client that shows no apps ignores all of it,
  so a tool's result says the same in `content`, for models and for those clients: `shown?/1` tells
  which client asks. The list of tools does not depend on that.

  The extension is offered, in every revision, while a tool names a page.
  """

  alias BeamMCP.{Content, Context, Options, Result}

  @extension "io.modelcontextprotocol/ui"
  @mime_type "text/html;profile=mcp-app"

  # The application's names of what is written here as Elixir writes it.
  @domains [
    connect_domains: "connectDomains",
    resource_domains: "resourceDomains",
    frame_domains: "frameDomains",
    base_uri_domains: "baseUriDomains"
  ]
  @permissions [
    camera: "camera",
    microphone: "microphone",
    geolocation: "geolocation",
    clipboard_write: "clipboardWrite"
  ]

  # `https://` or `wss://` with a host, perhaps with a wildcard in front and a port; or a page of this
  # machine during development.
  @origin ~r/\A((https|wss):\/\/(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|(http|ws):\/\/(localhost|127\.0\.0\.1))(:\d{1,5})?\z/

  @doc "The media type of a page."
  @spec mime_type() :: String.t()
  def mime_type, do: @mime_type

  @doc """
  `_meta` of a tool that is shown as the page under `uri`.

  Option `:visibility`, of `:model` and `:app`, says who may call the tool: the client's model, or the
  page. By default both may; with `[:app]` alone, models are not told of it.

      iex> BeamMCP.App.tool_meta("ui://clock/main.html", visibility: [:app])
      %{"ui" => %{"resourceUri" => "ui://clock/main.html", "visibility" => ["app"]}}
  """
  @spec tool_meta(String.t(), visibility: [:model | :app]) :: map()
  def tool_meta(uri, options \\ []) do
    options = Options.only!(options, [:visibility])
    ui = %{"resourceUri" => page_uri!(uri)}

    case Keyword.fetch(options, :visibility) do
      {:ok, visibility} -> %{"ui" => Map.put(ui, "visibility", visibility!(visibility))}
      :error -> %{"ui" => ui}
    end
  end

  @doc """
  The registration of a page, for `BeamMCP.register_all/2` and the option `registrations`.

  `html` is the page, a whole document, or a function of the `BeamMCP.Context` that returns one.
  Options, beside those of `meta/1`:

    * `:name` - required, the resource's name; `:title` and `:description` for people

  The page is a resource like others: listed, and read with its `_meta`.
  """
  @spec page(String.t(), String.t() | (Context.t() -> String.t()), keyword()) ::
          {:resource, BeamMCP.ResourceSpec.t(), (map(), Context.t() -> Result.Resource.t())}
  def page(uri, html, options) do
    {listed, shown} = Keyword.split(options, [:name, :title, :description])
    {meta, html} = {meta(shown), html!(html)}
    fields = Options.only!(listed, [:name, :title, :description])
    spec = struct!(BeamMCP.ResourceSpec, [uri: page_uri!(uri), mime_type: @mime_type] ++ fields)
    {:resource, spec, &contents(&1, &2, html, meta)}
  end

  @doc """
  A page as contents that a handler of the host's own returns. Options as for `meta/1`.
  """
  @spec contents(String.t(), String.t(), keyword()) :: Content.contents()
  def contents(uri, html, options \\ []) do
    Content.resource_text(page_uri!(uri), html, [mime_type: @mime_type] ++ given(meta(options)))
  end

  @doc """
  What a page needs, as its `_meta`. Without a word of it a page may reach nothing but its
  application.

    * `:connect_domains` - origins that it may fetch from or open sockets to
    * `:resource_domains` - origins that images, scripts, styles and fonts may come from
    * `:frame_domains` - origins that it may put into frames
    * `:base_uri_domains` - origins that its `base` may name
    * `:permissions` - a list of `:camera`, `:microphone`, `:geolocation`, `:clipboard_write`
    * `:domain` - where the application is to put it, in words of that application
    * `:border` - whether it wants a border, `true` or `false`

  Origins are like `"https://api.example.com"` or `"https://*.example.com"`; `http` is for this machine
  alone. Anything else raises `ArgumentError`.

      iex> BeamMCP.App.meta(connect_domains: ["https://api.example.com"], border: true)
      %{"ui" => %{"csp" => %{"connectDomains" => ["https://api.example.com"]}, "prefersBorder" => true}}
  """
  @spec meta(keyword()) :: map()
  def meta(options) do
    known = Keyword.keys(@domains) ++ [:permissions, :domain, :border]
    options = Options.only!(options, known)

    csp =
      for {key, name} <- @domains,
          {:ok, origins} <- [Keyword.fetch(options, key)],
          into: %{},
          do: {name, origins!(key, origins)}

    ui =
      for {name, value} <- [
            {"csp", csp},
            {"permissions", permissions!(options[:permissions] || [])},
            {"domain", domain!(options[:domain])},
            {"prefersBorder", border!(options[:border])}
          ],
          value not in [nil, %{}],
          into: %{},
          do: {name, value}

    if ui == %{}, do: %{}, else: %{"ui" => ui}
  end

  @doc """
  Whether the client of a call shows apps. A handler may then say less in `content`, never nothing.
  """
  @spec shown?(Context.t()) :: boolean()
  def shown?(%Context{client_capabilities: capabilities}) do
    with %{"extensions" => %{@extension => %{"mimeTypes" => types}}} when is_list(types) <-
           capabilities do
      @mime_type in types
    else
      _undeclared -> false
    end
  end

  defp contents(%{uri: uri}, context, html, meta) do
    uri
    |> Content.resource_text(html.(context), [mime_type: @mime_type] ++ given(meta))
    |> Result.resource()
  end

  defp given(meta) when meta == %{}, do: []
  defp given(meta), do: [meta: meta]

  defp html!(html) when is_binary(html), do: fn _context -> html end
  defp html!(html) when is_function(html, 1), do: html

  defp html!(_other),
    do: raise(ArgumentError, "a page is a string or a function of the BeamMCP.Context")

  defp page_uri!("ui://" <> rest = uri) when rest != "", do: uri

  defp page_uri!(other) do
    raise ArgumentError,
          "the URI of a page starts with ui://, such as \"ui://clock/main.html\", got: #{inspect(other)}"
  end

  defp visibility!(list) do
    if is_list(list) and list != [] and list -- [:model, :app] == [],
      do: Enum.map(list, &Atom.to_string/1),
      else: raise(ArgumentError, "option visibility: expected a list of :model and :app")
  end

  defp origins!(key, origins) do
    unless is_list(origins) and Enum.all?(origins, &(is_binary(&1) and &1 =~ @origin)) do
      raise ArgumentError,
            "option #{key}: expected a list of origins such as \"https://api.example.com\", " <>
              "got: #{inspect(origins)}"
    end

    origins
  end

  defp permissions!(list) do
    for permission <- list, into: %{} do
      case Keyword.fetch(@permissions, permission) do
        {:ok, name} -> {name, %{}}
        :error -> raise ArgumentError, "option permissions: expected a list of #{permissions()}"
      end
    end
  end

  defp permissions, do: Enum.map_join(Keyword.keys(@permissions), ", ", &inspect/1)

  defp domain!(domain) when is_binary(domain) or domain == nil, do: domain
  defp domain!(_other), do: raise(ArgumentError, "option domain: expected a string")

  defp border!(border) when is_boolean(border) or border == nil, do: border
  defp border!(_other), do: raise(ArgumentError, "option border: expected true or false")
end
