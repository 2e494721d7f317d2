//! The simulated policies under every loop, without an engine: entries are folded, a small world of
//! files answers.

#[path = "policy/play.rs"]
mod play;
#[path = "policy/world.rs"]
mod world;

#[path = "policy/competent.rs"]
mod competent;
#[path = "policy/flawed.rs"]
mod flawed;
#[path = "policy/purity.rs"]
mod purity;
#[path = "policy/registry.rs"]
mod registry;
