//! SQLite, as a file with one writer thread and four readers, or in memory.

mod files;
mod memory;
mod migrate;
mod open;
mod readers;
mod session;
mod writer;

pub(crate) use files::create_new;
pub use memory::MemoryDb;
pub use open::{OpenError, SqliteDb};

#[cfg(test)]
mod sqlite_tests;
