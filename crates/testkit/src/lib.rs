//! Worlds for proofs: scripted runs that are crashed, canceled and woken at every single point.
//!
//! ```text
//!   Scenario ──► Stage (store, world) ──► drive ──crash at k──► drive again ──► invariants
//! ```
//!
//! The engine, the loops, the store's SQL and the tools' contract are the shipped ones. Only the
//! outside
//! is made up: the model is scripted, the world remembers every act, time passes by itself.

mod clock;
mod invariants;
mod points;
mod processes;
mod scenario;
mod sim;
mod stage;
mod sweep;
mod trouble;
mod world;

pub use clock::VirtualClock;
pub use invariants::{Ending, Watched, check, check_midway};
pub use points::{Gate, InTime, Passing, Point, Points};
pub use processes::{Company, Database, Generation, Part, Played, ended, parts, play};
pub use scenario::{Scenario, errand, families, heir_of, scenarios};
pub use sim::{Simulated, simulate};
pub use stage::{Process, Stage, Went};
pub use sweep::{
    Swept, sweep_cancels, sweep_crashes, sweep_double_crashes, sweep_letters, sweep_living_owners,
    sweep_lost_replies, sweep_stale_owners, sweep_switches, sweep_takeovers,
};
pub use world::{Act, World};
