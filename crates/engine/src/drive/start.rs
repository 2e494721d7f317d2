//! Runs that a run starts and does not wait for: the work of a decision, and the decision that
//! follows its end.
//!
//! ```text
//!   start_run ─► one commit: its outcome, the ending of the decision, the run
//!   the run ends ─► one commit: its ending, its message, the follow-up decision
//! ```
//!
//! Their ids derive from the effect or from the run that ends. Doing it again after a crash makes
//! the same run, and what was not committed never began.

use super::Driver;
use crate::EndedTask;
use crate::ids::derived_id;
use everloop_loops::OpenToolCall;
use everloop_ports::{RunStart, Submission};
use everloop_store::{NewRun, RunLink};
use everloop_types::{EffectId, Observation, Reason, RunId, Status, Words};
use serde_json::json;
use tracing::{error, warn};

impl Driver<'_> {
    /// Notes the outcome of a call that starts a run, and has the run begin with it.
    pub(super) fn start_run(&mut self, open: &OpenToolCall, start: RunStart, took_ms: u64) {
        let run = RunId::new(derived_id("run_", &open.effect));
        let seen = Observation::ok(json!({ "started": run }).to_string());
        let mut new = self.of_this_turn(run, start.submission);
        new.link = RunLink { task_key: Some(start.task_key), is_quiet: true };
        self.pending.started.push(new);
        self.note_seen(open, seen, took_ms);
    }

    /// Has the decision that follows the end of this run begin with that end. Nothing follows what
    /// a person canceled.
    pub(super) async fn follow_up(&mut self, status: Status, words: &Words) {
        let frame = self.run.frame().clone();
        if frame.follow_up.is_none() || matches!(status, Status::Canceled) {
            return;
        }
        let text = everloop_text::render(words, frame.language);
        let text = super::tool::bounded(Observation::ok(text), &frame).text;
        let held = self.run.holding().clone();
        let ended = EndedTask {
            run: &self.claim.run,
            conversation: &self.claim.conversation,
            turn: &self.claim.turn,
            frame: &frame,
            status,
            text: &text,
            held: &held,
        };
        let Some(submission) = self.engine.environment.follow_up(ended).await else { return };
        // No effect has this cause: the first entry is 1.
        let end = EffectId { run: self.claim.run.clone(), cause: 0, index: 0 };
        let mut new = self.of_this_turn(RunId::new(derived_id("run_", &end)), submission);
        new.link = RunLink { task_key: None, is_quiet: true };
        self.pending.started.push(new);
    }

    fn of_this_turn(&self, run: RunId, submission: Submission) -> NewRun {
        let (conversation, turn) = (self.claim.conversation.clone(), self.claim.turn.clone());
        let submission = Submission { idem_key: None, ..submission };
        self.engine.new_run(run, conversation, submission, Some(turn))
    }

    /// A decision that failed, or a run that could not be started, is for the operator too (DR-6).
    pub(super) fn log_decision(&self, status: Status, reason: Option<&Reason>) {
        if self.run.frame().decision.is_none() {
            return;
        }
        let (conversation, turn) = (&self.claim.conversation, &self.claim.turn);
        if status == Status::Failed {
            let why = reason.map(super::log::VariantName);
            let reason = why.as_ref().map(tracing::field::display);
            warn!(%conversation, turn_id = %turn, reason, "decision failed");
        } else if self.run.counts().tool_failures > 0 {
            error!(%conversation, turn_id = %turn, "run could not be started");
        }
    }
}
