defmodule BeamMCP.TaskStore.ETSTest do
  use BeamMCP.TaskStoreCase, async: true, store: {BeamMCP.TaskStore.ETS, []}
  use BeamMCP.TaskStoreBoundsCase, store: BeamMCP.TaskStore.ETS
end
