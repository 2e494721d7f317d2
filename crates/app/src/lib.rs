//! Everything between a surface and the engine.
#![allow(missing_docs, reason = "the move is under way")]

pub mod answers;
pub mod app;
pub mod audit_file;
pub mod briefing;
pub mod config;
pub mod context;
pub mod conversation;
pub mod copies;
pub mod database;
pub mod delivery;
pub mod doctor;
pub mod environment;
pub mod error;
pub mod exchange;
pub mod following;
pub mod forks;
pub mod frames;
pub mod home;
pub mod key;
pub mod learnt;
pub mod models;
pub mod near;
pub mod notice;
pub mod own;
pub mod place;
pub mod prices;
pub mod reminding;
pub mod router;
pub mod run_json;
pub mod runs;
pub mod secrets;
pub mod settings;
pub mod settling;
pub mod setup;
pub mod show;
pub mod toolset;
pub mod trouble;
pub mod upkeep;
pub mod workspace_mode;

pub use app::{App, OpenOptions, early_language};
pub use conversation::Conversation;
pub use error::AppError;
pub use notice::{Notice, Notices};
