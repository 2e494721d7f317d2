//! Every test of the application in one program: one is linked faster than 7.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod conversation;
mod facts;
mod long_run;
mod slash;
mod titles;
mod turns;
mod unattended;
mod waiting;
