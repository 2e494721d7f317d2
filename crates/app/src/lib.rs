//! Everything between a surface and the engine.
#![allow(missing_docs, reason = "the move is under way")]

pub mod app;
pub mod audit_file;
pub mod briefing;
pub mod context;
pub mod database;
pub mod environment;
pub mod error;
pub mod frames;
pub mod home;
pub mod key;
pub mod learnt;
pub mod near;
pub mod notice;
pub mod own;
pub mod place;
pub mod prices;
pub mod router;
pub mod secrets;
pub mod settings;
pub mod show;
pub mod toolset;
pub mod upkeep;
pub mod workspace_mode;

pub use app::{App, OpenOptions, early_language};
pub use error::AppError;
pub use notice::{Notice, Notices};
