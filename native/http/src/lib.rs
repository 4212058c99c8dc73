//! Streamable HTTP over hyper: a listener that drives exchanges.
