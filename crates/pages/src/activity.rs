//! What a run did, a row each.

use crate::layout::PageFrame;
use crate::parts::{diff, icon, state_icon};
use everloop_text::pages as words;
use everloop_types::visible;
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
    /// The run that it began.
    pub run: Option<String>,
}

/// The rows.
#[must_use]
pub fn activity(frame: &PageFrame, rows: &[ActivityRow]) -> Markup {
    html! {
        @for (at, row) in rows.iter().enumerate() {
            div.did data-s=[row.state] {
                @match row.state {
                    Some(state) => (state_icon(state)),
                    None => (icon(row.icon)),
                }
                div {
                    @if let Some(tool) = &row.tool { span.mono { (visible(tool)) } }
                    @match &row.run {
                        Some(run) => a href={ "/runs/" (run) } { (visible(&row.text)) },
                        None => span { (visible(&row.text)) },
                    }
                    @if let Some(detail) = &row.detail {
                        p.clamp.bad[row.state == Some("failed")] { (visible(detail)) }
                    }
                    @if !row.diff.is_empty() {
                        @let name = format!("{} {}", frame.say(words::chat::change()), at + 1);
                        (diff(&row.diff, &name))
                    }
                }
                span.num { (row.took) }
            }
        }
    }
}
