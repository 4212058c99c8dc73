defmodule Everything.Tasks do
  @moduledoc """
  Tools whose calls may outlive their request, as tasks.

  A handler that returns `{:task, fun}` is done with its call: a client that takes tasks gets one at
  once, and `fun` goes on. For a client that takes none `fun` runs within the call, unless the tool
  requires a task.
  """

  alias BeamMCP.{Context, InputRequest, ToolSpec}
  alias Everything.Schemas

  require Logger

  # As if there were work to do.
  @pause_ms 200

  @doc "The tools."
  @spec tools() :: [ToolSpec.t()]
  def tools do
    [
      %ToolSpec{
        name: :slow_compute,
        title: "Slow computation",
        description: "Takes its time; cancel it to see what happens.",
        input_schema: Schemas.slow_compute(),
        task_support: :optional,
        handler: &slow_compute/1
      },
      %ToolSpec{
        name: :failing_job,
        description: "Fails after a while, with a text for the caller.",
        task_support: :required,
        handler: &failing_job/1
      },
      %ToolSpec{
        name: :protocol_error_job,
        description: "Needs a client that can show a page.",
        task_support: :optional,
        handler: &protocol_error_job/1
      },
      %ToolSpec{
        name: :confirm_delete,
        description: "Asks whether a file may be deleted, and deletes nothing.",
        input_schema: Schemas.object(%{"filename" => %{"type" => "string"}}, ["filename"]),
        task_support: :optional,
        handler: &confirm_delete/1
      },
      %ToolSpec{
        name: :multi_input,
        description: "Asks two things at once, and waits for both.",
        task_support: :optional,
        handler: &multi_input/1
      },
      %ToolSpec{
        name: :test_tool_with_task,
        description: "Asks for a name first and then works for a while.",
        task_support: :required,
        handler: &named/2
      }
    ]
  end

  defp slow_compute(%{seconds: seconds} = arguments) do
    label = Map.get(arguments, :label, "computation")

    {:task,
     fn context ->
       Context.on_cancel(context, fn -> Logger.info("slow_compute #{label} was cancelled") end)
       Context.progress(context, 1, 2, "computing #{label}")
       Process.sleep(round(seconds * 1_000))
       {:ok, "#{label} took #{seconds} s."}
     end}
  end

  defp failing_job(_arguments) do
    {:task,
     fn _context ->
       Process.sleep(@pause_ms)
       {:error, "The job has failed."}
     end}
  end

  # A client that does not declare that it shows pages ends the task with an error of the protocol.
  defp protocol_error_job(_arguments) do
    {:task,
     fn context ->
       Context.elicit(context, "Please sign.", {:url, "https://example.com/sign"})
       {:ok, "Signed."}
     end}
  end

  defp confirm_delete(%{filename: filename}) do
    form = Schemas.form(%{confirm: %{type: "boolean"}}, ["confirm"])

    {:task,
     fn context ->
       case Context.elicit(context, "Delete #{filename}?", form, key: :confirm) do
         {:accept, %{"confirm" => true}} -> {:ok, "#{filename} would be deleted now."}
         _anything_else -> {:ok, "#{filename} stays."}
       end
     end}
  end

  defp multi_input(_arguments) do
    question = fn name ->
      InputRequest.form("Your #{name}?", Schemas.form(%{name => %{type: "string"}}, []))
    end

    {:task,
     fn context ->
       answers = Context.ask(context, %{name: question.("name"), color: question.("color")})
       {:ok, "#{map_size(answers)} answers."}
     end}
  end

  # What is asked before the task begins costs a round of the call.
  defp named(_arguments, context) do
    form = Schemas.form(%{name: %{type: "string"}}, ["name"])

    case Context.elicit(context, "What is your name?", form, key: :user_name) do
      {:accept, %{"name" => name}} -> {:task, fn _context -> {:ok, "Done, #{name}."} end}
      _anything_else -> {:ok, "Nothing was done."}
    end
  end
end
