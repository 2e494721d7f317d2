//! Everything between a surface and the engine.
//!
//! ```text
//!   App::open(OpenOptions) ──► settings, folders, database, notices
//!        └─ Conversation::open ──► send(line) ──► Reaction      stop_of(run) ──► RunStop
//!        └─ RunDetails::read, forks, settling, following::Following ──► RunEvent
//! ```
//!
//! Failures are [`AppError`], what stops nothing is a [`AppNotice`]. Deliberately absent: sentences,
//! exit codes and pages, which a surface makes of these types.
#![expect(missing_docs, reason = "items become private when the rest of cli has moved here")]

pub mod agenda;
pub mod answers;
pub mod app;
pub mod approvals;
pub mod audit_file;
pub mod audit_query;
pub mod briefing;
pub mod canceling;
pub mod catalog;
pub mod cleaning;
pub mod comparison;
pub mod config;
pub mod context;
pub mod conversation;
pub mod copies;
pub mod database;
pub mod delivery;
pub mod doctor;
pub mod drive;
pub mod environment;
pub mod error;
pub mod exchange;
pub mod following;
pub mod forks;
pub mod frames;
pub mod home;
pub mod key;
pub mod learnt;
pub mod log;
pub mod mcp_servers;
pub mod models;
pub mod near;
pub mod notice;
pub mod one_shot;
pub mod own;
pub mod place;
pub mod plan_change;
pub mod portable;
pub mod prices;
pub mod rehearsal;
pub mod reminding;
pub mod replay;
pub mod router;
pub mod run_diff;
pub mod run_json;
pub mod run_list;
pub mod runs;
pub mod secrets;
pub mod settings;
pub mod settling;
pub mod setup;
pub mod show;
pub mod slash;
pub mod tool_overview;
pub mod toolset;
pub mod tour;
pub mod trouble;
pub mod upkeep;
pub mod worker;
pub mod workspace_mode;

pub use app::{App, OpenOptions, early_language};
pub use conversation::Conversation;
pub use error::{AppError, ChoiceError, FileError, ModelChoiceError, RunError};
pub use notice::{AppNotice, Notices};
