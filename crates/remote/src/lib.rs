//! A client of the HTTP API of another process: the same runs and todos, from another machine.
//!
//! ```text
//!   RemoteServer ──get, post──► records as the command line prints them
//!                ──follow────► RunFeed: events as they come, across lost connections
//! ```
//!
//! Deliberately absent: what a person reads, and what a command means. The token goes to the
//! address that was named and nowhere else: redirects are not followed.

mod address;
mod error;
mod feed;
mod server;
mod sse;

pub use error::{ApiProblem, RemoteError};
pub use feed::{FeedNews, RunFeed};
pub use server::{RemoteOptions, RemoteServer};
