defmodule BeamMCP.Catalog.Definition.Check do
  @moduledoc false
  # What the fields of several kinds of definitions have in common. Each check answers what is
  # wrong, as `{place, message}`.

  alias BeamMCP.{Annotations, Handler, Icon}
  alias BeamMCP.Catalog.Definition

  @type faults :: [{String.t(), String.t()}]

  @max_uri_bytes 4_096
  @max_time_ms 86_400_000

  @spec texts(struct(), [atom()]) :: faults()
  def texts(spec, keys) do
    for {key, value} <- Map.take(spec, keys), value != nil, not utf8?(value) do
      {Atom.to_string(key), "must be a UTF-8 string"}
    end
  end

  @spec maps(struct(), [atom()]) :: faults()
  def maps(spec, keys) do
    for {key, value} <- Map.take(spec, keys),
        value != nil,
        not is_map(value) or is_struct(value) do
      {Atom.to_string(key), "must be a map"}
    end
  end

  @doc "A name that people see: any text, no control characters."
  @spec name(term(), String.t()) :: faults()
  def name(name, place \\ "name")

  def name(name, place) when is_binary(name) do
    cond do
      not String.valid?(name) -> [{place, "must be a UTF-8 string"}]
      name == "" -> [{place, "must not be empty"}]
      name =~ ~r/[\x00-\x1F\x7F]/ -> [{place, "must not have control characters"}]
      String.length(name) > 128 -> [{place, "must have at most 128 characters"}]
      true -> []
    end
  end

  def name(_other, place), do: [{place, "must be a string"}]

  @doc "An absolute URI (RFC 3986 §3), by its characters."
  @spec uri(term()) :: faults()
  def uri(uri) when is_binary(uri) and byte_size(uri) > @max_uri_bytes,
    do: [{"uri", "must have at most #{@max_uri_bytes} bytes"}]

  def uri(uri) do
    if is_binary(uri) and
         uri =~
           ~r/\A[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:\/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+\z/,
       do: [],
       else: [{"uri", "must be an absolute URI, such as \"file:///notes.txt\""}]
  end

  @spec icons(term()) :: faults()
  def icons(nil), do: []
  def icons(icons), do: for({place, text} <- Icon.faults(icons), do: {"icons" <> place, text})

  @spec annotations(term()) :: faults()
  def annotations(annotations) do
    case Annotations.read(annotations) do
      {:ok, _map} -> []
      {:error, faults} -> for {place, text} <- faults, do: {"annotations" <> place, text}
    end
  end

  @doc "How a handler goes on that asked its client."
  @spec resume(term()) :: faults()
  def resume(resume) when resume in [:replay, :park], do: []
  def resume(_other), do: [{"resume", "must be :replay or :park"}]

  @doc "Who may use it; what the scopes themselves are is the native library's to check."
  @spec access(struct()) :: faults()
  def access(spec) do
    clauses = spec.alternative_scope_sets

    [
      unless(scopes?(spec.required_scopes),
        do: {"required_scopes", "must be a list of UTF-8 strings"}
      ),
      unless(is_list(clauses) and not List.improper?(clauses) and Enum.all?(clauses, &scopes?/1),
        do: {"alternative_scope_sets", "must be a list of lists of UTF-8 strings"}
      ),
      unless(spec.denial in [nil, :neutral, :challenge],
        do: {"denial", "must be :neutral, :challenge or nil"}
      )
    ]
    |> Enum.reject(&is_nil/1)
  end

  @doc "The same for the native library."
  @spec sound_access(struct()) :: map()
  def sound_access(spec),
    do: Map.take(spec, [:required_scopes, :alternative_scope_sets, :denial])

  @doc "A handler of the definition's own, or one that the instance has for its kind."
  @spec handler(term(), Definition.kind(), Definition.host()) :: faults()
  def handler(nil, kind, host) do
    if kind in host.serves, do: [], else: [{"handler", "is required: #{missing(kind)}"}]
  end

  def handler(handler, _kind, _host), do: function(handler, "handler")

  @spec function(term(), String.t()) :: faults()
  def function(handler, place) do
    case Handler.new(handler, [2, 1]) do
      {:ok, _handler} ->
        []

      :error ->
        [
          {place,
           "must be an existing function of 1 or 2 arguments: itself, {module, function}, or " <>
             "{module, function, extra_arguments} with a list"}
        ]
    end
  end

  @spec completions(term(), String.t()) :: faults()
  def completions(values, place) when is_list(values) do
    if not List.improper?(values) and Enum.all?(values, &utf8?/1),
      do: [],
      else: [{place, "must be a list of UTF-8 strings"}]
  end

  def completions(handler, place), do: function(handler, place)

  @spec cache(struct(), Definition.host()) :: faults()
  def cache(%{cache_ttl_ms: ttl_ms, cache_scope: scope}, host) do
    ttl(ttl_ms) ++ scope(scope, host)
  end

  @spec argument_keys(term()) :: faults()
  def argument_keys(keys) when keys in [:atoms, :strings], do: []
  def argument_keys(_other), do: [{"argument_keys", "must be :atoms or :strings"}]

  @spec utf8?(term()) :: boolean()
  def utf8?(text), do: is_binary(text) and String.valid?(text)

  @doc "Icons for the native library, which knows no empty list of them."
  @spec given_icons([map()] | nil) :: [map()] | nil
  def given_icons(icons), do: if(icons not in [nil, []], do: icons)

  @doc "The map of a resource's or template's annotations, which `annotations/1` found sound."
  @spec sound_annotations(Annotations.declared() | nil) :: map() | nil
  def sound_annotations(annotations) do
    {:ok, map} = Annotations.read(annotations)
    map
  end

  @doc "The function of a handler that `function/2` found sound."
  @spec sound_handler(Handler.declared() | nil) :: Handler.t() | nil
  def sound_handler(nil), do: nil

  def sound_handler(handler) do
    {:ok, handler} = Handler.new(handler, [2, 1])
    handler
  end

  defp scopes?(scopes),
    do: is_list(scopes) and not List.improper?(scopes) and Enum.all?(scopes, &utf8?/1)

  defp missing(:tool), do: "the instance has no dispatch function"
  defp missing(:prompt), do: "the catalog has no get_prompt/3"
  defp missing(:completion), do: "a completion has nothing else to run"
  defp missing(_resource_or_template), do: "the catalog has no read_resource/2"

  defp ttl(nil), do: []
  defp ttl(ttl_ms) when is_integer(ttl_ms) and ttl_ms in 0..@max_time_ms, do: []
  defp ttl(_other), do: [{"cache_ttl_ms", "must be an integer from 0 to #{@max_time_ms}"}]

  defp scope(:public, %{public_cache?: false}) do
    [
      {"cache_scope",
       "may be :public only with the option allow_public_cache and a catalog without capabilities/1"}
    ]
  end

  defp scope(scope, _host) when scope in [nil, :private, :public], do: []
  defp scope(_other, _host), do: [{"cache_scope", "must be :private or :public"}]
end
