//! Everything between a surface and the engine.
//!
//! ```text
//!   App::open(OpenOptions) ──► settings, folders, database, notices
//!        └─ Conversation::open ──► send(line) ──► Reaction      run(id).stop() ──► RunStop
//!        └─ RunDetails::read, forks, settling, following::Following ──► RunEvent
//! ```
//!
//! Failures are [`AppError`], what stops nothing is an [`AppNotice`]. What programs read is a type
//! that serializes to JSON. Deliberately absent: sentences of errors, exit codes and pages, which a
//! surface makes of these types.

// The application, its errors and what it says beside.
mod app;
mod background;
pub mod error;
mod notice;

// Settings, folders, secrets, and the first run.
pub mod config;
mod database;
pub mod home;
mod key;
mod own;
pub mod place;
pub mod prices;
pub mod secrets;
pub mod settings;
pub mod setup;
mod workspace_mode;

// What runs are made of: loops, personas, skills, models, tools.
pub mod analysis;
pub mod briefing;
pub mod catalog;
pub mod comparison;
pub mod context;
pub mod environment;
pub mod facts;
pub mod frames;
pub mod learnt;
pub mod mcp_servers;
pub mod mentions;
pub mod models;
pub mod near;
pub mod tool_overview;
mod toolset;
pub mod trouble;

// A conversation: what a line means and does.
pub mod answers;
pub mod artifacts;
pub mod conversation;
pub mod conversations;
pub mod deciding;
pub mod goals;
pub mod interrupts;
pub mod one_shot;
pub mod router;
pub mod slash;
pub mod turns;

// Runs: driving, following, reading, changing.
pub mod call_words;
pub mod canceling;
pub mod drive;
pub mod following;
pub mod forks;
pub mod plan_change;
pub mod portable;
pub mod replay;
pub mod reports;
pub mod retrying;
pub mod run_control;
pub mod run_diff;
pub mod run_json;
pub mod run_list;
pub mod run_types;
pub mod runs;
pub mod serving;
pub mod settling;
pub mod show;
pub mod tour;
pub mod undo;
pub mod usage_report;
pub mod worker;

// Todos, the schedule and reminders.
pub mod agenda;
pub mod exchange;
pub mod heartbeat;
pub mod notify;
pub mod rehearsal;
pub mod reminding;
pub mod scheduling;

// Operation: audit, logs, copies, health.
pub mod access_token;
pub mod approvals;
mod audit_file;
pub mod audit_query;
pub mod channels;
pub mod cleaning;
pub mod copies;
pub mod delivery;
pub mod doctor;
pub mod log;
pub mod migrate;
mod upkeep;

pub use app::{App, OpenOptions, early_language};
pub use config::ConfigReport;
pub use conversation::{Conversation, Reaction};
pub use database::Database;
pub use error::{
    AppError, ChoiceError, ConversationError, FileError, ModelChoiceError, RunError, RunTypeError,
};
pub use following::Following;
pub use notice::{AppNotice, Notices};
pub use runs::RunDetails;
pub use settings::Settings;
