//! The simulated policies under every loop, without an engine: entries are folded, a small world of
//! files answers.
