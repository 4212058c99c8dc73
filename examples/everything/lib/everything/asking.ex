defmodule Everything.Asking do
  @moduledoc """
  Tools, a prompt and a resource that need the client: its user, its model, its directories.

  Each is written once and serves every revision. A 2026 client gets the questions in the result of
  the call and sends the call again with its answers; then the function here runs from its start.
  """

  alias BeamMCP.{Content, Context, InputRequest, PromptSpec, ResourceSpec, ToolSpec}
  alias Everything.Schemas

  @doc "The tools."
  @spec tools() :: [ToolSpec.t()]
  def tools do
    [
      tool(:test_sampling, "Has the client's model answer a prompt.", &answer/2, ["prompt"]),
      tool(:test_elicitation, "Asks the user for a name and an address.", &sign_up/2, ["message"]),
      tool(:test_elicitation_sep1034_defaults, "Asks with a filled-in form.", &defaults/2),
      tool(:test_elicitation_sep1330_enums, "Asks for choices of every kind.", &choices/2),
      tool(:test_missing_capability, "Needs a client that has a model.", &capital/2),
      tool(:test_streaming_elicitation, "Asks the user for a name.", &greet/2),
      tool(:test_input_required_result_elicitation, "Greets the user by name.", &greet/2),
      tool(:test_input_required_result_sampling, "Asks the client's model.", &capital/2),
      tool(:test_input_required_result_list_roots, "Names the client's roots.", &roots/2),
      tool(:test_input_required_result_request_state, "Asks for consent.", &consent/2),
      tool(:test_input_required_result_tampered_state, "Asks for consent.", &consent/2),
      tool(:test_input_required_result_multiple_inputs, "Asks three things at once.", &all/2),
      tool(:test_input_required_result_multi_round, "Asks one thing after another.", &rounds/2),
      tool(:test_input_required_result_capabilities, "Asks what can be asked.", &possible/2)
    ]
  end

  @doc "The prompt."
  @spec prompts() :: [PromptSpec.t()]
  def prompts do
    [
      %PromptSpec{
        name: :test_input_required_result_prompt,
        title: "A prompt that asks",
        description: "One message that quotes what the user said.",
        handler: &prompt/2
      }
    ]
  end

  @doc "The resource."
  @spec resources() :: [ResourceSpec.t()]
  def resources do
    [
      %ResourceSpec{
        uri: "test://personal-note",
        name: "personal-note",
        title: "A note of one's own",
        description: "A text that addresses its reader, whose name it asks for.",
        mime_type: "text/plain",
        handler: &note/2
      }
    ]
  end

  # The client's model writes an answer.
  defp answer(%{prompt: prompt}, context), do: sampled(context, prompt, [])

  defp capital(_arguments, context),
    do: sampled(context, "What is the capital of France?", key: :capital_question)

  defp sampled(context, text, options) do
    messages = [Content.prompt_message(:user, text)]

    case Context.sample(context, %{messages: messages, maxTokens: 100}, options) do
      {:ok, %{"content" => content}} -> {:ok, "The model says: #{text_of(content)}"}
      {:error, reason} -> {:error, "There is no answer: #{inspect(reason)}"}
    end
  end

  # A form comes back filled in, or not at all.
  defp sign_up(%{message: message}, context) do
    email = %{type: "string", format: "email", description: "Where to write to"}
    fields = %{username: %{type: "string", description: "Your name"}, email: email}
    said(Context.elicit(context, message, Schemas.form(fields, ["username", "email"])))
  end

  defp defaults(_arguments, context) do
    fields = %{
      name: %{type: "string", default: "John Doe"},
      age: %{type: "integer", default: 30},
      score: %{type: "number", default: 95.5},
      status: %{type: "string", enum: ["active", "inactive", "pending"], default: "active"},
      verified: %{type: "boolean", default: true}
    }

    said(Context.elicit(context, "Please check these values.", Schemas.form(fields, [])))
  end

  defp choices(_arguments, context) do
    fields = %{
      untitledSingle: %{type: "string", enum: options("option")},
      titledSingle: %{type: "string", oneOf: titled(options("value"))},
      legacyEnum: %{type: "string", enum: options("opt"), enumNames: ["One", "Two", "Three"]},
      untitledMulti: %{type: "array", items: %{type: "string", enum: options("option")}},
      titledMulti: %{type: "array", items: %{anyOf: titled(options("value"))}}
    }

    said(Context.elicit(context, "Please choose.", Schemas.form(fields, [])))
  end

  defp greet(_arguments, context) do
    case ask_name(context, :user_name) do
      {:accept, %{"name" => name}} -> {:ok, "Hello, #{name}!"}
      _declined_or_cancelled -> {:ok, "Hello, whoever you are!"}
    end
  end

  defp note(_resource, context), do: greet(%{}, context)

  defp roots(_arguments, context) do
    case Context.roots(context, key: :client_roots) do
      {:ok, roots} -> {:ok, "The client works in #{Enum.map_join(roots, ", ", & &1["uri"])}."}
      {:error, reason} -> {:error, "The roots are not known: #{inspect(reason)}"}
    end
  end

  defp consent(_arguments, context) do
    form = Schemas.form(%{ok: %{type: "boolean"}}, ["ok"])

    case Context.elicit(context, "Is that all right?", form, key: :confirm) do
      {:accept, %{"ok" => true}} -> {:ok, "state-ok"}
      _no -> {:ok, "The user does not agree."}
    end
  end

  # Several questions cost the client one round.
  defp all(_arguments, context) do
    answers = Context.ask(context, questions())

    {:ok,
     "#{map_size(answers)} answers: #{answers |> Map.keys() |> Enum.sort() |> Enum.join(", ")}"}
  end

  # What the client cannot be asked is left out.
  defp possible(_arguments, context) do
    answers = Context.ask(context, questions(), optional: true)
    answered = for {key, answer} <- answers, not match?({:error, _reason}, answer), do: key
    {:ok, "Answered: #{Enum.join(answered, ", ")}"}
  end

  # What must happen once stands behind the last question: what is before it runs in every round.
  defp rounds(_arguments, context) do
    form = Schemas.form(%{color: %{type: "string"}}, ["color"])

    with {:accept, %{"name" => name}} <- ask_name(context, :step1),
         {:accept, %{"color" => color}} <-
           Context.elicit(context, "What is your favourite colour?", form, key: :step2) do
      {:ok, "#{name} likes #{color}."}
    else
      _declined_or_cancelled -> {:ok, "Never mind."}
    end
  end

  defp prompt(_prompt, context) do
    form = Schemas.form(%{context: %{type: "string"}}, ["context"])

    case Context.elicit(context, "What is it about?", form, key: :user_context) do
      {:accept, %{"context" => text}} -> {:ok, "Keep in mind: #{text}"}
      _declined_or_cancelled -> {:ok, "There is nothing to keep in mind."}
    end
  end

  defp ask_name(context, key) do
    form = Schemas.form(%{name: %{type: "string"}}, ["name"])
    Context.elicit(context, "What is your name?", form, key: key)
  end

  defp questions do
    message = Content.prompt_message(:user, "Write a greeting.")

    %{
      user_name:
        InputRequest.form(
          "What is your name?",
          Schemas.form(%{name: %{type: "string"}}, ["name"])
        ),
      greeting: InputRequest.sample(%{messages: [message], maxTokens: 100}),
      client_roots: InputRequest.roots()
    }
  end

  defp said({:accept, content}), do: {:ok, "Action: accept, content: #{json(content)}"}
  defp said(action) when is_atom(action), do: {:ok, "Action: #{action}"}
  defp said({:error, reason}), do: {:error, "There is no answer: #{inspect(reason)}"}

  defp text_of(%{"type" => "text", "text" => text}), do: text
  defp text_of(blocks) when is_list(blocks), do: Enum.map_join(blocks, " ", &text_of/1)
  defp text_of(%{"type" => kind}), do: "(#{kind})"

  defp json(content) do
    {:ok, json} = BeamMCP.Native.encode(content)
    json
  end

  defp options(word), do: for(number <- 1..3, do: "#{word}#{number}")

  defp titled(values),
    do: for(value <- values, do: %{const: value, title: String.capitalize(value)})

  defp tool(name, description, handler, texts \\ []) do
    %ToolSpec{name: name, description: description, handler: handler, input_schema: texts(texts)}
  end

  defp texts([]), do: nil
  defp texts(names), do: Schemas.object(Map.new(names, &{&1, %{"type" => "string"}}), names)
end
