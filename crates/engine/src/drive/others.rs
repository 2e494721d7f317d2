//! Marks text that other people wrote.

use super::Driver;
use everloop_loops::OpenToolCall;
use everloop_ports::{BY_OTHERS, FROM_THE_WEB};
use everloop_types::Observation;

/// The search tool. The tools for pages and requests and those of MCP servers mark their results
/// themselves.
const SEARCH: &str = "internet_search";

impl Driver<'_> {
    /// Puts a line above text that others wrote: a file, or search results (RA-19).
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
