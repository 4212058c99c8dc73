//! What every transport shares: the host seam, calls in flight, and the loop that feeds an exchange.
