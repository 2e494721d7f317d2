//! Every test of the comparison in one program: one is linked faster than 4.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "policy/competent.rs"]
mod competent;
#[path = "policy/flawed.rs"]
mod flawed;
#[path = "policy/play.rs"]
mod play;
mod policy;
#[path = "policy/purity.rs"]
mod purity;
#[path = "policy/registry.rs"]
mod registry;
mod report;
mod runner;
mod set;
mod support;
#[path = "policy/world.rs"]
mod world;
