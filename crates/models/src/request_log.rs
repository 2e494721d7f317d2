//! What the log says of a request: where it went, how it ended, how long and how large it was.
//!
//! Deliberately absent: addresses, which may hold a key in their query, headers, and bodies.

use crate::wire::WireFault;
use everloop_types::Reply;
use std::time::Duration;
use tracing::field::Empty;
use tracing::{Span, debug, error_span, info};

/// The span of one request. It learns its status and the size of the reply while it goes on.
pub(crate) fn request_span(host: &str, model: &str, bytes_sent: usize) -> Span {
    error_span!("request", host, model, bytes_sent, status = Empty, bytes_received = Empty)
}

/// The response began.
pub(crate) fn log_status(status: u16) {
    Span::current().record("status", status);
}

/// The whole reply was read.
pub(crate) fn log_received(bytes: usize) {
    Span::current().record("bytes_received", bytes);
}

/// The request is over.
pub(crate) fn log_end(reply: &Result<Reply, WireFault>, took: Duration) {
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match reply {
        Ok(_) => debug!(ms, "request finished"),
        Err(fault) => {
            let error = &fault.error;
            // The word that journals use as well.
            let kind = serde_json::to_value(error.kind).unwrap_or_default();
            info!(ms, error = kind.as_str(), content.error = %error.detail, "request failed");
        }
    }
}
