//! Why a run stopped, and what a person may do about it.

use super::{ChatReply, Conversation, Reaction};
use crate::error::AppError;
use crate::following::{FollowNews, Following};
use crate::forks;
use crate::frames;
use crate::router::{OpenQuestion, question_of};
use crate::runs::{self, RunDetails};
use crate::trouble::ModelTrouble;
use everloop_text as text;
use everloop_types::journal::{InboxMessage, WaitingOn};
use everloop_types::{Reason, RunId, Status};

/// Why a run stopped.
pub enum RunStop {
    /// It has ended.
    Ended(Box<RunDetails>),
    /// It has ended, and another run continues it.
    Continued {
        /// The run that goes on.
        to: RunId,
        /// Its loop.
        loop_name: String,
    },
    /// It waits for an answer.
    Asks(OpenQuestion),
    /// Its model cannot be asked for now.
    ModelUnavailable(Option<Box<ModelTrouble>>),
}

impl Conversation {
    /// The newest run of the conversation that is under way and that no other terminal has.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn working_run(&self) -> Result<Option<RunId>, AppError> {
        let open = self.router.open_runs(self.store()).await?;
        let others = self.terminals.of_others();
        let is_ours = |run: &RunId| self.terminals.has(run) || !others.contains(run);
        let mut going = open.into_iter().filter(|(_, status)| *status != Status::Waiting);
        Ok(going.find(|(run, _)| is_ours(run)).map(|(run, _)| run))
    }

    /// Whether the run has stopped, and why.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn stop_of(&self, run: &RunId) -> Result<Option<RunStop>, AppError> {
        let at = self.store().runs().position(run).await?;
        let status = at.map_or(Status::Failed, |at| at.status);
        if status.is_final() || status == Status::Quarantined {
            let details = RunDetails::read(&self.app, self.store(), run).await?;
            if let Some((to, loop_name)) = details.successor() {
                let (to, loop_name) = (to.clone(), loop_name.to_owned());
                return Ok(Some(RunStop::Continued { to, loop_name }));
            }
            return Ok(Some(RunStop::Ended(Box::new(details))));
        }
        if status != Status::Waiting {
            return Ok(None);
        }
        if let Some(question) = question_of(self.store(), run).await? {
            return Ok(Some(RunStop::Asks(question)));
        }
        let front = runs::front(self.store(), run).await?;
        let details = RunDetails::read(&self.app, self.store(), &front).await?;
        let now = self.engine.clock().now();
        // One that is due is about to be tried again.
        let is_due = details.row.times.wake_at.is_some_and(|at| at <= now);
        Ok(match details.waiting_on {
            Some(WaitingOn::Model { .. }) if !is_due => {
                let trouble = ModelTrouble::of_run(&self.app, &details);
                Some(RunStop::ModelUnavailable(trouble.map(Box::new)))
            }
            _ => None,
        })
    }

    /// Notes what a stop means for the next line. Call it when the stop is shown.
    pub fn note_stop(&mut self, run: &RunId, stop: &RunStop) {
        match stop {
            RunStop::Ended(details) => {
                self.terminals.forget(run);
                let run = &details.row.run;
                self.unsettled = details.has_open_unknown().then(|| run.clone());
                let at_limit = is_at_limit(details);
                self.at_limit = at_limit.then(|| run.clone());
            }
            RunStop::Continued { to, .. } => {
                self.terminals.forget(run);
                self.terminals.take(to);
            }
            RunStop::Asks(open) => self.seen = Some(open.clone()),
            RunStop::ModelUnavailable(_) => {}
        }
    }

    /// Waits until the run stops.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn until_stopped(&self, run: &RunId) -> Result<(), AppError> {
        let mut following = Following::begin(&self.engine, run).await;
        loop {
            if let FollowNews::MayHaveStopped = following.next().await
                && self.stop_of(run).await?.is_some()
            {
                return Ok(());
            }
        }
    }

    /// A run that waits for a model is tried again now, because somebody wants it.
    pub(super) async fn wake(&self, run: &RunId) -> Result<(), AppError> {
        self.store().queue().reset_stall_count(run).await?;
        if let Some(RunStop::ModelUnavailable(_)) = self.stop_of(run).await? {
            // Whoever has the right to drive takes it up.
            let front = runs::front(self.store(), run).await?;
            self.engine.wake_now(&front).await?;
        }
        Ok(())
    }

    /// Cancels a run, and says by what.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn cancel_run(&self, run: &RunId, by: &str) -> Result<(), AppError> {
        self.engine.cancel(run, by).await?;
        Ok(())
    }

    /// Waits no longer for tools of a canceled run to end by themselves.
    pub async fn hurry(&self, run: &RunId) {
        self.engine.skip_grace(run);
        let below = self.store().runs().descendants(run).await.unwrap_or_default();
        below.iter().for_each(|run| self.engine.skip_grace(run));
    }

    /// Says something to the model of a running task.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn steer(&self, run: &RunId, text: &str) -> Result<(), AppError> {
        let dedupe = everloop_engine::fresh_id("steer_", self.engine.clock().now());
        let message = InboxMessage::Steer { text: text.to_owned() };
        self.engine.send(run, &dedupe, &message).await?;
        Ok(())
    }

    /// Asks the run to go on under another loop, with what this conversation allows its runs. Later
    /// goals are that loop's in any case, if there is such a loop.
    pub async fn request_switch(&mut self, run: &RunId, loop_name: &str) -> ChatReply {
        let yes = self.choice.policy.approve_all;
        let requested = forks::request_switch(&self.app, &self.engine, run, loop_name, yes).await;
        let chosen = frames::loop_name(loop_name).ok();
        if let Some(name) = &chosen {
            self.choice.loop_name.clone_from(name);
        }
        ChatReply::Switch { run: run.clone(), requested, chosen }
    }

    /// After a limit the person may let the run go on, or ask for an answer with what there is.
    pub(super) async fn handle_limit_reply(
        &mut self,
        run: &RunId,
        word: &str,
    ) -> Result<Option<Reaction>, AppError> {
        let lang = self.app.lang;
        let said = everloop_text::bare(word);
        let is_one_of =
            |words: text::Text| words.in_lang(lang).split('|').any(|known| known == said);
        let go_on = is_one_of(text::chat::words_go_on());
        let answer = is_one_of(text::chat::words_answer_now());
        if !go_on && !answer {
            return Ok(None);
        }
        let message = answer.then_some(InboxMessage::AnswerNow);
        let forked = forks::continue_run(&self.app, &self.engine, run, "", message).await?;
        Ok(Some(Reaction::Follow(forked, None)))
    }
}

/// Whether a run ended because a limit was reached.
#[must_use]
pub fn is_at_limit(details: &RunDetails) -> bool {
    matches!(details.reason(), Some(Reason::StepLimit { .. } | Reason::Budget { .. }))
}
