//! Numbers about the server, in the text form that Prometheus reads.

use axum::http::StatusCode;
use everloop_types::Status;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Counts since the start. Everything about runs is read from the database when it is asked for.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Requests by the first digit of their status.
    requests: [AtomicU64; 6],
    micros: AtomicU64,
    connections: Arc<AtomicI64>,
    streams: Arc<AtomicI64>,
}

/// Something that is open, counted for as long as it is.
pub(crate) struct OpenCount(Arc<AtomicI64>);

impl OpenCount {
    fn new(count: &Arc<AtomicI64>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for OpenCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    pub(crate) fn count_request(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).min(5);
        self.requests[class].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Counts a connection.
    pub(crate) fn open_connection(&self) -> OpenCount {
        OpenCount::new(&self.connections)
    }

    /// Counts an event stream.
    pub(crate) fn open_stream(&self) -> OpenCount {
        OpenCount::new(&self.streams)
    }

    /// All of them. Without `runs` the database did not answer.
    pub(crate) fn text(&self, runs: Option<&[(Status, u64)]>, drives: bool) -> String {
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut out, "everloop_http_requests_total", "counter", "Requests by class of status.");
        for (class, count) in self.requests.iter().enumerate().skip(1) {
            let count = count.load(Ordering::Relaxed);
            let _ = writeln!(out, "everloop_http_requests_total{{class=\"{class}xx\"}} {count}");
        }
        let seconds = Duration::from_micros(self.micros.load(Ordering::Relaxed)).as_secs_f64();
        head(&mut out, "everloop_http_request_seconds_total", "counter", "Time spent on requests.");
        let _ = writeln!(out, "everloop_http_request_seconds_total {seconds}");
        let open = [
            ("everloop_http_connections", "Open connections.", &self.connections),
            ("everloop_event_streams", "Open event streams.", &self.streams),
        ];
        for (name, help, count) in open {
            head(&mut out, name, "gauge", help);
            let _ = writeln!(out, "{name} {}", count.load(Ordering::Relaxed));
        }
        head(&mut out, "everloop_database_up", "gauge", "Whether the database answers.");
        let _ = writeln!(out, "everloop_database_up {}", u8::from(runs.is_some()));
        head(&mut out, "everloop_runs", "gauge", "Runs by status.");
        for (status, count) in runs.unwrap_or_default() {
            let _ = writeln!(out, "everloop_runs{{status=\"{}\"}} {count}", status.as_str());
        }
        head(&mut out, "everloop_drives_runs", "gauge", "Whether this process drives runs.");
        let _ = writeln!(out, "everloop_drives_runs {}", u8::from(drives));
        out
    }
}
