defmodule BeamMCP.Result.Resource do
  @moduledoc "What a read returns, see `BeamMCP.Result.resource/2`."

  defstruct contents: [], meta: nil, cache_ttl_ms: nil, cache_scope: nil

  @typedoc "Contents, and how long and for whom they may be kept; `nil` leaves it to the definition."
  @type t :: %__MODULE__{
          contents: [map()],
          meta: map() | nil,
          cache_ttl_ms: non_neg_integer() | nil,
          cache_scope: :private | :public | nil
        }
end
