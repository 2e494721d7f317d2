//! Every loop, played by scripts: the properties that hold for all of them, and the branches of
//! each.

mod golden;
mod plan_replan;
mod properties;
mod react;
mod support;
