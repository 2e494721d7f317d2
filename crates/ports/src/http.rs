//! What every HTTP client of Everloop shares: TLS and the `Retry-After` header.
//!
//! Only with the feature `http`, so that the contracts stay light without it.

mod retry_after;
mod tls;

pub use retry_after::retry_after_ms;
pub use tls::{TlsError, tls_config};
