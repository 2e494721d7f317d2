//! The commands, one file each.

pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod copies;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod exchange;
pub(crate) mod foreground;
pub(crate) mod fork;
pub(crate) mod keep;
pub(crate) mod loops;
pub(crate) mod messages;
pub(crate) mod models;
pub(crate) mod pages;
pub(crate) mod portable;
pub(crate) mod print;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod settle;
pub(crate) mod simulate;
pub(crate) mod switch;
pub(crate) mod tour;
pub(crate) mod worker;
