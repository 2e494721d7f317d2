//! What a run did, a row each.

use crate::layout::PageFrame;
use crate::parts::{diff, icon, state_icon};
use everloop_text::pages as words;
use maud::{Markup, html};

/// One thing that a run did.
#[derive(Debug, Clone)]
pub struct ActivityRow {
    /// `succeeded`, `failed`, `unsettled`, `running`, `canceled`, or nothing for a note.
    pub state: Option<&'static str>,
    /// The icon of a note.
    pub icon: &'static str,
    /// The tool.
    pub tool: Option<String>,
    /// What it was, in words.
    pub text: String,
    /// What came back, shortened.
    pub detail: Option<String>,
    /// How long it took.
    pub took: String,
    /// The change of a file.
    pub diff: Vec<String>,
}

/// The rows.
#[must_use]
pub fn activity(frame: &PageFrame, rows: &[ActivityRow]) -> Markup {
    html! {
        @for row in rows {
            div.did data-s=[row.state] {
                @match row.state {
                    Some(state) => (state_icon(state)),
                    None => (icon(row.icon)),
                }
                div {
                    @if let Some(tool) = &row.tool { span.mono { (tool) } }
                    span { (row.text) }
                    @if let Some(detail) = &row.detail {
                        p.clamp.bad[row.state == Some("failed")] { (detail) }
                    }
                    @if !row.diff.is_empty() {
                        (diff(&row.diff, &frame.say(words::chat::change())))
                    }
                }
                span.num { (row.took) }
            }
        }
    }
}
