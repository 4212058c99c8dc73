//! Newline-delimited JSON-RPC over a pair of descriptors: a driver of exchanges.
