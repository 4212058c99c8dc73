defmodule BeamMCP.Definition do
  @moduledoc """
  What `authorize_definition` and `step_up` are asked about: a definition as a request names it.

    * `kind` - `:tool`, `:resource`, `:template` or `:prompt`
    * `name` - what it is known by, a string: a name, a URI, a URI template
    * `uri` - of a template that is read or subscribed to, the URI that is meant, else `nil`

  Both are functions of the `BeamMCP.Context` and this. They run in a process of their own, before
  anything is looked at that belongs to the definition, and have `hook_timeout_ms`.

    * `authorize_definition` permits with `true`. With anything else, and when it raises, exits or
      takes too long, the caller is answered as if there were no such definition, and it is left out
      of lists. It is asked once for each definition of a list.
    * `step_up` answers `:ok`, or `{:step_up, acr_values, max_age}` with a list of `acr` values, any
      of which does (`[]` for any), and the seconds since the user signed in (`nil` for any). A token
      that does not say so is answered with 401 `insufficient_user_authentication` (RFC 9470). What
      it raises denies.

  Both are asked about names too that nothing has, and about definitions that scopes hide, so that
  the time of an answer tells nobody which of them there are. What they say of those makes no
  difference. So they answer by kind and name, and raise for none:

      def authorize_definition(context, %BeamMCP.Definition{kind: :tool, name: "admin." <> _rest}),
        do: context.tenant == "operations"

      def authorize_definition(_context, _definition), do: true
  """

  @enforce_keys [:kind, :name]
  defstruct [:kind, :name, :uri]

  @typedoc "A definition as a request names it."
  @type t :: %__MODULE__{
          kind: :tool | :resource | :template | :prompt,
          name: String.t(),
          uri: String.t() | nil
        }
end
