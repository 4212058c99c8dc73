defmodule Everything.Prompts do
  @moduledoc "What the prompts say. Required arguments are there when a clause here runs."

  alias BeamMCP.{Content, Context, Result}
  alias Everything.Media

  @doc "Fills in the prompts that have no handler of their own."
  @spec get(atom(), map(), Context.t()) :: {:ok, String.t() | [Content.message()]}

  # A binary becomes one message of the user.
  def get(:test_simple_prompt, _arguments, _context) do
    {:ok, "This is a simple prompt for testing."}
  end

  def get(:test_prompt_with_arguments, %{arg1: first, arg2: second}, _context) do
    {:ok, "The first value is #{first}, the second is #{second}."}
  end

  def get(:test_prompt_with_embedded_resource, %{resourceUri: uri}, _context) do
    document = Media.document(uri, "text/plain", "This document is embedded in a prompt.")

    {:ok,
     [
       Content.prompt_message(:user, document),
       Content.prompt_message(:user, "What does this document say?")
     ]}
  end

  @doc "The handler of one prompt."
  @spec picture(map()) :: Result.Prompt.t()
  def picture(%{name: :test_prompt_with_image}) do
    Result.prompt(
      [
        Content.prompt_message(:user, Media.image()),
        Content.prompt_message(:user, "What does this picture show?")
      ],
      description: "A picture and a question about it."
    )
  end
end
