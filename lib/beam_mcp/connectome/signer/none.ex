defmodule BeamMCP.Connectome.Signer.None do
  @moduledoc "The signer for those who have none: signs nothing."
  @behaviour BeamMCP.Connectome.Signer

  @impl true
  def sign(_bytes, _options), do: {:error, :no_signer}
end
