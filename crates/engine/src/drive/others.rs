//! Text that others wrote, marked as what it is.

use super::Driver;
use everloop_loops::OpenToolCall;
use everloop_ports::{BY_OTHERS, FROM_THE_WEB};
use everloop_types::Observation;

/// The tool that searches. Those for pages and requests, and those of MCP servers, say it
/// themselves.
const SEARCH: &str = "internet_search";

impl Driver<'_> {
    /// What others wrote, below a line that says what it is (RA-19): a file, or what was found.
    pub(super) fn marked(&self, open: &OpenToolCall, mut seen: Observation) -> Observation {
        let call = &open.planned.call;
        let frame = self.run.frame();
        let flow = frame.tool(&call.tool).and_then(|tool| tool.handling.flow.as_ref());
        let line = match call.tool.as_str() {
            SEARCH => FROM_THE_WEB,
            _ if flow.is_some_and(|flow| flow.workspace) => BY_OTHERS,
            _ => return seen,
        };
        if seen.is_ok() {
            let most = frame.limits.context.observation_chars;
            seen.text = format!("{line}\n{}", seen.text).chars().take(most).collect();
        }
        seen
    }
}
