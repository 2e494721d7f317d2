//! The log of a run: its spans, and one event for each durable entry.
//!
//! ```text
//!   run ──► turn ──► effect ──► request (in `models`)
//! ```
//!
//! Fields named `content.…` hold what people, models and tools wrote. The writer of the log leaves
//! them out unless it is configured to keep them, and then does not even format them.

use super::{DriveEnd, DriveError};
use everloop_store::{Claim, StoreError};
use everloop_types::journal::{
    EffectAttemptFailed, EffectFinished, EffectPlanned, Entry, EntryKind, Outcome,
};
use everloop_types::{EffectId, Ending, WorkerId};
use std::fmt::{self, Debug, Display, Write};
use tracing::field::Empty;
use tracing::{Span, debug, error_span, info, warn};

/// The span of one drive. Spans have the highest level, so that a warning has its context whatever
/// the filter is.
pub(super) fn run_span(claim: &Claim, worker: &WorkerId) -> Span {
    let epoch = claim.epoch;
    let (conversation, turn_id) = (&claim.conversation, &claim.turn);
    error_span!(
        "run",
        run = %claim.run,
        %conversation,
        %turn_id,
        epoch,
        worker = %worker,
        "loop" = Empty
    )
}

/// The span of one turn of the main loop.
pub(super) fn turn_span(number: u64, seq: i64) -> Span {
    error_span!("turn", turn = number, seq)
}

/// The span of one attempt at a model call.
pub(super) fn model_span(effect: &EffectId, model: &str, attempt: u32) -> Span {
    error_span!("effect", effect = %effect, kind = "model", model, attempt)
}

/// The span of one attempt at a tool call.
pub(super) fn tool_span(effect: &EffectId, tool: &str, attempt: u32) -> Span {
    error_span!("effect", effect = %effect, kind = "tool", tool = plain_name(tool), attempt)
}

/// How a drive ended.
pub(super) fn log_end(driven: &Result<DriveEnd, DriveError>, ms: u64) {
    match driven {
        Ok(DriveEnd::Finished(status)) => info!(status = status.as_str(), ms, "run finished"),
        Ok(DriveEnd::Parked(on)) => info!(waits_for = %VariantName(on), ms, "run waits"),
        Ok(DriveEnd::Released) => info!(ms, "run released"),
        Err(DriveError::LeaseLost(_)) => warn!(ms, "lease lost"),
        Err(DriveError::Quarantined { .. }) => warn!(ms, "run quarantined"),
        Err(DriveError::Newer { .. }) => warn!(ms, "run needs a newer program"),
        Err(DriveError::Store { source, .. }) => {
            warn!(error = %store_error(source), content.error = %source, ms, "store failed");
        }
    }
}

/// A failure of the store that is retried.
pub(crate) fn log_store_retry(error: &StoreError) {
    warn!(error = %store_error(error), content.error = %error, "store failed for now");
}

/// Entries that are durable.
pub(super) fn log_entries(entries: &[Entry]) {
    debug!(entries = entries.len(), "entries committed");
    for entry in entries {
        log_entry(entry);
    }
}

fn log_entry(entry: &Entry) {
    let effect = entry.effect.as_ref().map(tracing::field::display);
    match &entry.kind {
        EntryKind::EpochStarted(_) => info!("run claimed"),
        EntryKind::EffectPlanned(EffectPlanned::CallModel(planned)) => {
            let purpose = VariantName(&planned.call.purpose);
            debug!(effect, kind = "model", %purpose, "effect planned");
        }
        EntryKind::EffectPlanned(EffectPlanned::CallTool(planned)) => {
            let call = &planned.call;
            let class = VariantName(&planned.class);
            let tool = plain_name(&call.tool);
            debug!(effect, kind = "tool", tool, %class, content.args = %call.args, "effect planned");
        }
        EntryKind::EffectStarted(started) => {
            debug!(effect, attempt = started.attempt, "effect started")
        }
        EntryKind::EffectAttemptFailed(failed) => log_failed_attempt(entry, failed),
        EntryKind::EffectProbed(probed) => {
            let found = VariantName(&probed.found);
            info!(effect, attempt = probed.attempt, %found, "effect probed");
        }
        EntryKind::EffectFinished(finished) => log_outcome(entry, finished),
        EntryKind::ApprovalAsked(_) => info!(effect, "approval asked"),
        EntryKind::ApprovalGiven(_) => info!(effect, "approval given"),
        EntryKind::Delegated(_) => info!(effect, "child run started"),
        other => debug!(effect, entry = %VariantName(other), "entry committed"),
    }
}

fn log_failed_attempt(entry: &Entry, failed: &EffectAttemptFailed) {
    let effect = entry.effect.as_ref().map(tracing::field::display);
    let wait_ms = failed.retry_at.saturating_sub(entry.at).max(0);
    let may_have_acted = failed.may_have_acted;
    let content = &failed.error;
    info!(
        effect,
        attempt = failed.attempt,
        wait_ms,
        may_have_acted,
        content.error = %content,
        "effect is retried"
    );
}

fn log_outcome(entry: &Entry, finished: &EffectFinished) {
    let effect = entry.effect.as_ref().map(tracing::field::display);
    let ms = finished.took_ms;
    match &finished.outcome {
        Outcome::Replied(reply) => {
            let usage = &reply.usage;
            info!(
                effect,
                outcome = "replied",
                ms,
                calls = reply.calls.len(),
                input_tokens = usage.input_tokens,
                output_tokens = usage.output_tokens,
                content.reply = %reply.text,
                "effect finished"
            );
        }
        Outcome::ModelFailed(error) => warn!(
            effect,
            outcome = "model_failed",
            error = %VariantName(&error.kind),
            status = error.status,
            ms,
            content.error = %error.detail,
            "effect finished"
        ),
        Outcome::Observed(seen) if seen.ending == Ending::Unknown => {
            warn!(effect, outcome = "unknown", ms, content.result = %seen.text, "effect finished");
        }
        Outcome::Observed(seen) => {
            let outcome = VariantName(&seen.ending);
            info!(effect, %outcome, ms, content.result = %seen.text, "effect finished");
        }
        other => info!(effect, outcome = %VariantName(other), ms, "effect finished"),
    }
}

/// The name of a tool. A model may call a tool that does not exist, and its name is then content.
pub(crate) fn plain_name(tool: &str) -> &str {
    const NAME_CHARS_MAX: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if tool.len() <= NAME_CHARS_MAX && tool.bytes().all(is_plain) { tool } else { "?" }
}

/// The kind of a store's error, without the paths and addresses in its text.
fn store_error(error: &StoreError) -> String {
    match error {
        StoreError::Db(inner) => VariantName(inner).to_string(),
        other => VariantName(other).to_string(),
    }
}

/// The name of an enum's variant in snake case, and nothing of what the variant holds.
pub(crate) struct VariantName<'a, T>(pub(crate) &'a T);

impl<T: Debug> Display for VariantName<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = NameWriter::default();
        // An error only says that the name is complete.
        let _ = write!(name, "{:?}", self.0);
        f.write_str(&name.text)
    }
}

/// Takes the first word that is written to it, and refuses the rest.
#[derive(Default)]
struct NameWriter {
    text: String,
}

impl Write for NameWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if !letter.is_ascii_alphanumeric() {
                return Err(fmt::Error);
            }
            if letter.is_ascii_uppercase() && !self.text.is_empty() {
                self.text.push('_');
            }
            self.text.push(letter.to_ascii_lowercase());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::Observation;

    #[test]
    fn a_variant_is_named_without_what_it_holds() {
        let seen = Outcome::Observed(Observation::error("the secret plan"));
        assert_eq!(VariantName(&seen).to_string(), "observed");
        assert_eq!(VariantName(&Ending::TimedOut).to_string(), "timed_out");
        let error = StoreError::Violation { index: "one_outcome" };
        assert_eq!(store_error(&error), "violation");
        assert_eq!(plain_name("mcp__files.read-all"), "mcp__files.read-all");
        assert_eq!(plain_name("the goal was to"), "?");
    }
}
