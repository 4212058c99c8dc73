//! The protocol through its public door: an [`mcp_protocol::Exchange`], a scripted world, a clock moved by hand.
//!
//! Requirements are cited by their ids (`VER-3`), readings by theirs (`A-12`), trials by theirs (`G04`).

mod access_tokens;
mod apps;
mod asking;
mod asking_legacy;
mod asking_questions;
mod asking_schemas;
mod authorization;
mod caching;
mod caller_catalog;
mod cancellation;
mod completions;
mod definitions;
mod edits;
mod examples;
mod harness;
mod headers;
mod hostile;
mod ladder;
mod lifecycle;
mod lines;
mod listening;
mod logging;
mod messages;
mod notices;
mod pacing;
mod pages;
mod policy;
mod prompts;
mod recording;
mod relaying;
mod resources;
mod results;
mod schemas;
mod sessions;
mod standing;
mod subscribing;
mod summaries;
mod tasks;
mod tool_limits;
mod tools;
mod transcripts;
mod versions;
