//! What this program is.

/// Version, and the commit and date where the build knew them.
pub(crate) const VERSION: &str = env!("EVERLOOP_VERSION");

/// The version alone.
pub(crate) const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// The commit, empty where the build did not know it.
pub(crate) const COMMIT: &str = env!("EVERLOOP_COMMIT");

/// The date of the commit as `2026-11-15`, empty where the build did not know it.
pub(crate) const DATE: &str = env!("EVERLOOP_DATE");
