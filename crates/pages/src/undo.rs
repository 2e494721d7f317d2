//! Undoing what a run did to files: what would come back, what is left as it is.

use crate::layout::PageFrame;
use crate::parts::icon;
use everloop_text::pages as words;
use maud::{Markup, html};

/// What an undo of a run would do.
#[derive(Debug, Clone, Default)]
pub struct UndoView {
    /// The run.
    pub run: String,
    /// What becomes of each file that can be put back.
    pub ready: Vec<String>,
    /// Why each other file is left as it is.
    pub refused: Vec<String>,
    /// Commands that may have changed more, in words.
    pub commands: Option<String>,
    /// Whether an undo can be taken back.
    pub can_redo: bool,
}

/// The offer; nothing for a run that changed no file.
#[must_use]
pub fn offer(frame: &PageFrame, undo: &UndoView) -> Markup {
    let to = format!("/do/runs/{}/undo", undo.run);
    let back = format!("/do/runs/{}/redo", undo.run);
    html! {
        @if !undo.ready.is_empty() || !undo.refused.is_empty() {
            details.confirm id={ "undo-" (undo.run) } {
                summary.btn.sm { (icon("undo")) (frame.say(words::undo::button())) }
                div.confirm-body {
                    @if undo.ready.is_empty() {
                        p { (frame.say(words::undo::nothing())) }
                    } @else {
                        p { (frame.say(words::undo::will(&undo.ready.len()))) }
                        ul.files { @for line in &undo.ready { li { (line) } } }
                        @if !undo.refused.is_empty() { p { (frame.say(words::undo::refused())) } }
                    }
                    @if !undo.refused.is_empty() {
                        ul.files { @for line in &undo.refused { li { (line) } } }
                    }
                    @if let Some(line) = &undo.commands { p.hint { (line) } }
                    @if !undo.ready.is_empty() {
                        (frame.form(&to).button("btn sm", &[],
                            html! { (frame.say(words::undo::now())) }))
                    }
                }
            }
        }
        @if undo.can_redo {
            (frame.form(&back).button("btn sm", &[],
                html! { (icon("retry")) (frame.say(words::undo::redo())) }))
        }
    }
}
