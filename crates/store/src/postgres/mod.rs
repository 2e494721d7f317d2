//! PostgreSQL: the same SQL on a server that many processes share.
//!
//! ```text
//!   commit ──► a task ──► a connection of the pool ──► BEGIN, all statements   one round trip
//!                                                  ──► COMMIT, or ROLLBACK     one more
//! ```
//!
//! Every transaction has a task of its own, so that dropping its future neither takes it back nor
//! leaves it open. `LISTEN` and `NOTIFY` have a connection of their own (`live`) and are no part of
//! a commit. Deliberately absent: poolers that hand a connection on between transactions: settings
//! and statements belong to the connection.

mod address;
mod errors;
mod live;
mod migrate;
mod pool;
mod session;
mod tls;
mod value;

pub use address::without_password;
pub use pool::{PgDb, PgOptions};

#[cfg(test)]
mod postgres_tests;
