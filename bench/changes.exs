# What it costs to change a catalog of 1 and one of 100,000 definitions of a kind. Run by `mix run` in MIX_ENV=prod
# with the number of changes and the kinds; prints one line of JSON for each kind.

defmodule Bench.Changes do
  @many 100_000
  @input_schema %{
    "type" => "object",
    "properties" => %{"text" => %{"type" => "string"}, "count" => %{"type" => "integer"}},
    "required" => ["text"],
    "additionalProperties" => false
  }

  def run(kind, changes) do
    for {name, count} <- [few: 1, many: @many], do: start(name, kind, count)
    # In a process of its own: what is left of starting would be collected while the clock runs.
    measured = Task.await(Task.async(fn -> edits(kind, changes) end), :infinity)
    row = Map.merge(%{kind: kind, definitions: @many, replace_ms: replacements(kind)}, measured)
    for name <- [:few, :many], do: :ok = BeamMCP.stop(name)
    {:ok, json} = BeamMCP.Native.encode(row)
    IO.puts(json)
  end

  def handle(_asked), do: {:ok, "handled"}

  defp start(name, kind, count) do
    secrets = [:crypto.strong_rand_bytes(32)]
    options = [name: name, secrets: secrets, registrations: list(kind, 1..count)]
    {:ok, _supervisor} = BeamMCP.start_link(options)
  end

  # In turns. The small catalog loses the definition that it got, the large one another, from its middle.
  defp edits(kind, changes) do
    rounds =
      for round <- 1..changes do
        few = edit(:few, kind, @many + round, @many + round)
        many = edit(:many, kind, @many + round, div(@many, 4) + round * 7)
        {few, many}
      end

    {few, many} = Enum.unzip(rounds)
    %{register_us: medians([few, many], 0), unregister_us: medians([few, many], 1)}
  end

  defp edit(name, kind, new, old) do
    {spec, handler} = definition(kind, new, 1)
    function = String.to_existing_atom("register_#{kind}")
    register = fn -> apply(BeamMCP, function, [name, spec, handler]) end
    {old_spec, _handler} = definition(kind, old, 1)
    unregister = fn -> BeamMCP.unregister(name, kind, key(kind, old_spec)) end
    {time(register), time(unregister)}
  end

  defp replacements(kind) do
    [list, other] = for first <- [1, @many + 1], do: list(kind, first..(first + @many - 1))
    {spec, handler} = definition(kind, div(@many, 2), 2)
    changed = List.replace_at(list, div(@many, 2) - 1, {kind, spec, handler})
    replace = fn list -> time(fn -> BeamMCP.replace_catalog(:many, list) end) / 1_000 end
    replace.(list)

    times = for _turn <- 1..3, do: {replace.(list), replace.(changed), replace.(list)}
    %{same: median(times, 0), one_changed: median(times, 1), all_new: replace.(other)}
  end

  defp list(kind, numbers) do
    for number <- numbers do
      {spec, handler} = definition(kind, number, 1)
      {kind, spec, handler}
    end
  end

  defp definition(:tool, number, version) do
    {%BeamMCP.ToolSpec{
       name: "tool_#{number}",
       description: "Version #{version}",
       command_class: :observe,
       mode: :read_only,
       input_schema: @input_schema
     }, &__MODULE__.handle/1}
  end

  defp definition(:resource, number, version) do
    {%BeamMCP.ResourceSpec{
       uri: "bench://resource/#{number}",
       name: "resource #{number}",
       description: "Version #{version}"
     }, &__MODULE__.handle/1}
  end

  defp definition(:template, number, version) do
    {%BeamMCP.ResourceTemplateSpec{
       uri_template: "bench://template/#{number}/{id}",
       name: "template #{number}",
       description: "Version #{version}"
     }, &__MODULE__.handle/1}
  end

  defp definition(:prompt, number, version) do
    {%BeamMCP.PromptSpec{name: "prompt_#{number}", description: "Version #{version}"},
     &__MODULE__.handle/1}
  end

  defp definition(:completion, number, version),
    do: {{:prompt, "prompt_#{number}", "argument"}, ["value #{version}"]}

  defp key(:resource, spec), do: spec.uri
  defp key(:template, spec), do: spec.uri_template
  defp key(:completion, ref), do: ref
  defp key(_named, spec), do: spec.name

  defp time(change) do
    {microseconds, :ok} = :timer.tc(change)
    microseconds
  end

  defp medians(lists, place), do: for(list <- lists, do: median(list, place))

  defp median(tuples, place) do
    tuples |> Enum.map(&elem(&1, place)) |> Enum.sort() |> Enum.at(div(length(tuples), 2))
  end
end

[changes | kinds] = System.argv()
for kind <- kinds, do: Bench.Changes.run(String.to_atom(kind), String.to_integer(changes))
