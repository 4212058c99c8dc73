defmodule BeamMCP.Connectome.Signer.Signature do
  @moduledoc "A signature over the canonical bytes of a graph, and what is said about it."

  alias BeamMCP.Connectome

  @enforce_keys [:algorithm, :signature, :signer]
  defstruct [:algorithm, :signature, :signer, :scheme, :key_id]

  @typedoc "One signature; `algorithm` is the digest that the bytes name."
  @type t :: %__MODULE__{
          algorithm: Connectome.algorithm(),
          signature: binary(),
          signer: module(),
          scheme: String.t() | nil,
          key_id: String.t() | nil
        }
end
