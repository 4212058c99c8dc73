//! JSON Schema for tool arguments and results: compile once, check fast, explain slowly.
