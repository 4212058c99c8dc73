defmodule Protected.Tools do
  @moduledoc """
  What the tools do: one clause each. Whoever comes here has the scopes that the catalog asks for.
  """

  alias BeamMCP.Context
  alias Protected.Notes

  @doc "The dispatch function of the instance."
  @spec call(atom(), map(), Context.t()) :: {:ok, term()}
  def call(:whoami, _arguments, context) do
    {issuer, user, client} = context.principal

    {:ok,
     %{
       issuer: issuer,
       user: user,
       client: client,
       scopes: context.scopes,
       sender: context.sender
     }}
  end

  def call(:read_notes, _arguments, context), do: {:ok, %{notes: Notes.read(user(context))}}

  def call(:write_note, %{text: text}, context) do
    :ok = Notes.write(user(context), text)
    {:ok, "Written."}
  end

  def call(:erase_notes, _arguments, _context) do
    :ok = Notes.erase()
    {:ok, "Erased."}
  end

  # The same user may come with several clients.
  defp user(%Context{principal: {_issuer, user, _client}}), do: user
end
