//! The web pages: pure functions from view models to HTML, and the files that go with them.
//!
//! ```text
//!   journal ──► server/src/pages (reads) ──► view model ──► this crate ──► HTML
//! ```
//!
//! Everything that a person, a model, a tool or a webhook wrote is escaped by the template macro;
//! the only HTML that is made of such text comes from [`markdown::to_html`], which sanitises it.
//!
//! Deliberately absent: IO, clocks, routes, and inline scripts or styles (the policy of the pages
//! refuses them).

pub mod activity;
pub mod agenda;
pub mod ask;
pub mod assets;
pub mod chat;
mod code;
pub mod compare;
pub mod compare_figures;
pub mod compare_runs;
mod composer;
pub mod conversations;
pub mod files;
pub mod first;
pub mod health;
pub mod inbox;
mod keys;
pub mod layout;
pub mod markdown;
pub mod memory;
mod minify;
pub mod panel;
pub mod parts;
pub mod reports;
pub mod run;
pub mod run_list;
pub mod search;
pub mod settings;
pub mod signin;
mod thread;
pub mod tour;
pub mod travel;
pub mod undo;
pub mod waterfall;

#[cfg(test)]
mod view_tests;
