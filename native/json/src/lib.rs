//! Strict JSON: bytes to a checked, flat document, and values to bytes.
