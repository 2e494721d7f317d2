//! A reply that is coming in.

use super::calls::{CallAssembler, CallPart};
use super::mend::without_nul;
use everloop_ports::Delta;
use everloop_types::{ModelError, ModelErrorKind, Reply, StopCause, Usage};

/// What was understood of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct ReplyDraft {
    reply: Reply,
    reply_bytes: usize,
    calls: CallAssembler,
    stop: Option<StopCause>,
    done: bool,
    events: usize,
}

impl ReplyDraft {
    /// Notes that an event arrived, even an empty one.
    pub(crate) fn note_event(&mut self) {
        self.events += 1;
    }

    /// More of the text.
    pub(crate) fn say(&mut self, text: &str, on_delta: &mut dyn FnMut(Delta<'_>)) {
        let grown = push(&mut self.reply.text, text, |text| on_delta(Delta::Text(text)));
        self.reply_bytes += grown;
    }

    /// More of the reasoning.
    pub(crate) fn reason(&mut self, text: &str, on_delta: &mut dyn FnMut(Delta<'_>)) {
        let grown = push(&mut self.reply.reasoning, text, |text| on_delta(Delta::Reasoning(text)));
        self.reply_bytes += grown;
    }

    /// A piece of a tool call.
    pub(crate) fn call(&mut self, part: CallPart<'_>, on_delta: &mut dyn FnMut(Delta<'_>)) {
        self.reply_bytes += self.calls.take(part, on_delta);
    }

    /// Each report replaces the one before: servers that report with every chunk report sums.
    pub(crate) fn set_usage(&mut self, usage: Usage) {
        self.reply.usage = usage;
    }

    /// The model has stopped.
    pub(crate) fn stop(&mut self, cause: StopCause) {
        self.stop = Some(cause);
    }

    /// The server sent the end mark.
    pub(crate) fn end(&mut self) {
        self.done = true;
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn is_complete(&self) -> bool {
        self.done || self.stop.is_some()
    }

    pub(super) fn has_events(&self) -> bool {
        self.events > 0
    }

    pub(super) fn bytes(&self) -> usize {
        self.reply_bytes
    }

    pub(super) fn finish(self) -> Result<Reply, ModelError> {
        if !self.is_complete() {
            let detail = "the stream ended before the reply did";
            return Err(ModelError::new(ModelErrorKind::Cut, detail));
        }
        let calls = self.calls.finish();
        let stop = match self.stop.unwrap_or_default() {
            StopCause::Done | StopCause::ToolCalls if !calls.is_empty() => StopCause::ToolCalls,
            StopCause::ToolCalls => StopCause::Done,
            stop => stop,
        };
        let reply = Reply { calls, stop, ..self.reply };
        let hollow = reply.text.trim().is_empty() && reply.calls.is_empty();
        if hollow && reply.stop == StopCause::Done {
            let detail = "the reply has neither text nor tool calls";
            return Err(ModelError::new(ModelErrorKind::Empty, detail));
        }
        Ok(reply)
    }
}

fn push(to: &mut String, text: &str, say: impl FnOnce(&str)) -> usize {
    if text.is_empty() {
        return 0;
    }
    let clean = without_nul(text);
    let text = clean.as_deref().unwrap_or(text);
    to.push_str(text);
    say(text);
    text.len()
}
