defmodule BeamMCP.Catalog.Difference do
  @moduledoc false
  # What to edit so that one list of definitions takes the place of another.
  #
  # A definition that is put under a new key comes last among its kind, one that is put under a known
  # key keeps the place. So what may stay is where the new list begins in the order of the old one;
  # from the first definition out of order on, everything goes and is put again.

  alias BeamMCP.Catalog.Definition

  @doc "The ids to delete, and then the definitions to put."
  @spec between([Definition.t()], [Definition.t()]) :: {[Definition.id()], [Definition.t()]}
  def between(same, same), do: {[], []}

  def between(before, now) do
    before = Enum.group_by(before, & &1.kind)
    now = Enum.group_by(now, & &1.kind)
    kinds = Enum.uniq(Map.keys(before) ++ Map.keys(now))

    {deleted, put} =
      kinds
      |> Enum.map(&of_a_kind(Map.get(before, &1, []), Map.get(now, &1, [])))
      |> Enum.unzip()

    {Enum.concat(deleted), Enum.concat(put)}
  end

  defp of_a_kind(before, now) do
    wanted = MapSet.new(now, & &1.key)
    {kept, gone} = Enum.split_with(before, &(&1.key in wanted))
    {out_of_order, put} = in_order(kept, now, [])
    {Enum.map(gone ++ out_of_order, &Definition.id/1), put}
  end

  defp in_order([same | before], [same | now], put), do: in_order(before, now, put)

  defp in_order([%{key: key} | before], [%{key: key} = changed | now], put),
    do: in_order(before, now, [changed | put])

  defp in_order(out_of_order, now, put), do: {out_of_order, Enum.reverse(put, now)}
end
