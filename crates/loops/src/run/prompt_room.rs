//! The room that the prompt has: when it is to be shortened, and by how much.

use super::Run;
use super::guards::Context;
use crate::AgentLoop;
use crate::transcript::{Keep, Transcript};
use everloop_types::ContextLimits;

/// What the model is shown, beside the limits for it.
pub(super) struct PromptRoom<'r> {
    transcript: &'r Transcript,
    limits: &'r ContextLimits,
    context: Context,
}

impl<'r> PromptRoom<'r> {
    pub(super) fn of<L: AgentLoop>(run: &'r Run<L>) -> Self {
        let limits = &run.frame.limits.context;
        Self { transcript: run.inner.transcript(), limits, context: run.guards.context }
    }

    /// Whether the prompt is to be shortened before the next call.
    pub(super) fn needs_compaction(&self) -> bool {
        let limits = self.limits;
        let observations = limits.observations.saturating_add(limits.observations.div_ceil(2));
        self.is_long()
            || self.transcript.observation_count() >= observations
            || self.has_many_messages()
    }

    fn has_many_messages(&self) -> bool {
        let most = self.limits.messages;
        most > 0 && self.transcript.messages().len() >= most && self.compaction_cut().is_some()
    }

    /// Whether a summary would leave nearly as much as there is, by the measure that called for it.
    pub(super) fn frees_too_little(&self, upto: usize, summary: &str) -> bool {
        let transcript = self.transcript;
        let (bytes, messages) = transcript.left_by(upto, summary);
        let (left, there) = match self.is_long() {
            true => (bytes, transcript.bytes()),
            false => (messages, transcript.messages().len()),
        };
        let least = self.limits.least_freed.min(100);
        least > 0 && left.saturating_mul(100) > there.saturating_mul(100 - least)
    }

    fn is_long(&self) -> bool {
        let tokens = self.context.estimate(self.transcript.bytes());
        tokens >= self.limits.tokens
    }

    /// Keeps about a third of the room, and the newest observations. Where instructions and tools
    /// take most of the room, a third of what could leave.
    pub(super) fn compaction_cut(&self) -> Option<usize> {
        let limits = self.limits;
        let transcript = self.transcript;
        let room = (usize::try_from(limits.tokens).unwrap_or(usize::MAX) / 3).saturating_mul(4);
        let keep_bytes = match self.is_long() {
            true => room.min(transcript.movable_bytes() / 3),
            false => room,
        };
        let messages = match limits.messages {
            0 => usize::MAX,
            most => most / 2,
        };
        transcript.cut(Keep { bytes: keep_bytes, observations: limits.observations, messages })
    }
}
