defmodule BeamMCP.ReplayStore.ETSTest do
  use BeamMCP.ReplayStoreCase, async: true, store: BeamMCP.ReplayStore.ETS
end
