//! SQLite, as a file with one writer thread and four readers, or in memory.

mod copy;
mod files;
mod look;
mod memory;
mod migrate;
mod open;
mod readers;
mod reading;
mod session;
mod shape;
mod tables;
mod writer;

pub(crate) use copy::{back_up, check_copy, compact, restore, stage, unstage};
pub(crate) use look::{look, meta};
pub use memory::MemoryDb;
pub use open::{OpenError, SqliteDb};
pub(crate) use reading::ReadingDb;
pub(crate) use tables::{TableShape, tables};

#[cfg(test)]
mod sqlite_tests;
