//! The reasoning of a reply, folded to one line once it is over.

use super::grouped;
use crate::console::Console;
use everloop_engine::{EventKind, RunEvent, RunView};
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use std::time::Instant;

/// Follows the reasoning of each reply.
#[derive(Debug, Default)]
pub struct ThoughtFold {
    /// The reply whose reasoning is on its way, when it began, and its characters.
    open: Option<OpenThought>,
    /// The reply whose line was shown last.
    shown: i64,
}

#[derive(Debug)]
struct OpenThought {
    seq: i64,
    began: Instant,
    chars: usize,
}

impl ThoughtFold {
    /// Takes in an event. Gives the line about the reasoning that ends with it.
    pub fn take(
        &mut self,
        app: &Console,
        view: &RunView,
        event: &RunEvent,
        now: Instant,
    ) -> Option<StyledLine> {
        match &event.kind {
            EventKind::ReasoningDelta { text } => {
                let chars = text.chars().count();
                match &mut self.open {
                    Some(open) if open.seq == event.seq => open.chars += chars,
                    _ => self.open = Some(OpenThought { seq: event.seq, began: now, chars }),
                }
                None
            }
            EventKind::MessageDelta { text } if text.trim().is_empty() => None,
            EventKind::MessageDelta { .. } | EventKind::ToolProgress { call_id: None, .. } => {
                let open = self.open.take_if(|open| open.seq == event.seq)?;
                let reply = view.reply.as_ref().filter(|reply| reply.seq == event.seq);
                self.shown = reply.map_or(0, |reply| reply.seq);
                Some(self.line(app, &open, now))
            }
            EventKind::ReasoningCompleted { text } => self.complete(app, text, now),
            EventKind::StepRetrying { .. } | EventKind::StepFailed { .. } => {
                self.open = None;
                None
            }
            EventKind::StepStarted { .. } => {
                self.shown = 0;
                None
            }
            _ => None,
        }
    }

    /// The reasoning is complete: the line about it, unless it was shown when the words began.
    fn complete(&mut self, app: &Console, reasoning: &str, now: Instant) -> Option<StyledLine> {
        if std::mem::take(&mut self.shown) != 0 || reasoning.trim().is_empty() {
            self.open = None;
            return None;
        }
        if let Some(open) = self.open.take() {
            return Some(self.line(app, &open, now));
        }
        let chars = grouped(reasoning.chars().count() as u64);
        Some(StyledLine::new(Tone::Dim, &app.text(text::thought::done(&chars))))
    }

    fn line(&self, app: &Console, open: &OpenThought, now: Instant) -> StyledLine {
        let seconds = now.duration_since(open.began).as_secs();
        let chars = grouped(open.chars as u64);
        StyledLine::new(Tone::Dim, &app.text(text::thought::done_in(&seconds, &chars)))
    }
}
