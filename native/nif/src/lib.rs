//! The BEAM side of the core: decode, call, encode.
