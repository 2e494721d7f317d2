//! Every loop, played by scripts: the properties that hold for all of them, and the branches of
//! each.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read golden files and keep maps; the loops do not"
)]

mod answers;
mod cut_short;
mod decision;
mod evidence;
mod golden;
mod plan_execute_think;
mod plan_replan;
mod properties;
mod react;
mod siblings;
mod support;
mod task;
mod tool_driven;
mod written;
