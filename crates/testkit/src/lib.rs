//! Simulated worlds: scripted runs that are crashed, canceled and woken at every single point.
//!
//! ```text
//!   Scenario ──► Testbed (store, world) ──► drive ──crash at k──► drive again ──► invariants
//! ```
//!
//! The engine, the loops, the store's SQL and the tools' contract are the shipped ones. Only the
//! outside is simulated: the model is scripted, the world records every change, time is virtual.

mod clock;
mod invariants;
mod misbehaving;
mod points;
mod processes;
mod scenario;
mod sim;
mod sweep;
mod tasks;
mod testbed;
mod world;

pub use clock::VirtualClock;
pub use invariants::{ComparableEnding, ObservedRun, check, check_midway};
pub use points::{GateDecision, GateWait, PointGate, PointKind, Points};
pub use processes::{
    GroupReport, ProcessExit, ProcessGroup, ProcessSpec, SharedDatabase, ended, parts, play,
};
pub use scenario::{Scenario, decisions, errand, families, heir_of, scenarios, tasks};
pub use sim::{SimReport, simulate};
pub use sweep::{
    SweepReport, sweep_cancels, sweep_crashes, sweep_double_crashes, sweep_living_owners,
    sweep_lost_replies, sweep_messages, sweep_stale_owners, sweep_switches, sweep_takeovers,
};
pub use testbed::{ProcessEnd, TestProcess, Testbed};
pub use world::{World, WorldChange};
