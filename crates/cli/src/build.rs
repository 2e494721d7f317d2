//! What this program is.

/// Version, and the commit and date where the build knew them.
pub(crate) const VERSION: &str = env!("EVERLOOP_VERSION");
