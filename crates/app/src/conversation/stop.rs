//! Why a run stopped, and what a person may do about it.

use super::{ChatReply, Conversation, Reaction};
use crate::app::App;
use crate::error::AppError;
use crate::following::{FollowNews, Following};
use crate::forks::{self, ForkOptions};
use crate::frames;
use crate::router::{OpenQuestion, question_of};
use crate::runs::{self, RunDetails};
use crate::trouble::ModelTrouble;
use everloop_engine::Engine;
use everloop_text as text;
use everloop_types::journal::{InboxMessage, WaitingOn};
use everloop_types::{Reason, RunId, Status};
use std::sync::Arc;

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

/// One run of a conversation: whether it has stopped, and what a person does to it.
pub struct ConversationRun<'c> {
    app: &'c App,
    engine: &'c Arc<Engine>,
    run: &'c RunId,
}

impl ConversationRun<'_> {
    /// Whether the run has stopped, and why.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn stop(&self) -> Result<Option<RunStop>, AppError> {
        let at = self.engine.store().runs().position(self.run).await?;
        let status = at.map_or(Status::Failed, |at| at.status);
        if status.is_final() || status == Status::Quarantined {
            let details = RunDetails::read(self.app, self.engine.store(), self.run).await?;
            if let Some((to, loop_name)) = details.successor() {
                let (to, loop_name) = (to.clone(), loop_name.to_owned());
                return Ok(Some(RunStop::Continued { to, loop_name }));
            }
            return Ok(Some(RunStop::Ended(Box::new(details))));
        }
        if status != Status::Waiting {
            return Ok(None);
        }
        if let Some(question) = question_of(self.engine.store(), self.run).await? {
            return Ok(Some(RunStop::Asks(question)));
        }
        let front = runs::front(self.engine.store(), self.run).await?;
        let details = RunDetails::read(self.app, self.engine.store(), &front).await?;
        let now = self.engine.clock().now();
        // One that is due is about to be tried again.
        let is_due = details.row.times.wake_at.is_some_and(|at| at <= now);
        Ok(match details.waiting_on {
            Some(WaitingOn::Model { .. }) if !is_due => {
                let trouble = ModelTrouble::of_run(self.app, &details);
                Some(RunStop::ModelUnavailable(trouble.map(Box::new)))
            }
            _ => None,
        })
    }

    /// Waits until the run stops.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn until_stopped(&self) -> Result<(), AppError> {
        let mut following = Following::from_now_on(self.engine, self.run).await;
        loop {
            if let FollowNews::MayHaveStopped = following.next().await
                && self.stop().await?.is_some()
            {
                return Ok(());
            }
        }
    }

    /// A run that waits for a model is tried again now, because somebody wants it.
    pub(super) async fn wake(&self) -> Result<(), AppError> {
        self.engine.store().queue().reset_stall_count(self.run).await?;
        if let Some(RunStop::ModelUnavailable(_)) = self.stop().await? {
            // Whoever has the right to drive takes it up.
            let front = runs::front(self.engine.store(), self.run).await?;
            self.engine.wake_now(&front).await?;
        }
        Ok(())
    }

    /// Cancels the run, and says by what.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn cancel(&self, by: &str) -> Result<(), AppError> {
        self.engine.cancel(self.run, by).await?;
        Ok(())
    }

    /// Waits no longer for tools of a canceled run to end by themselves.
    pub async fn hurry(&self) {
        self.engine.skip_grace(self.run);
        let below = self.engine.store().runs().descendants(self.run).await.unwrap_or_default();
        below.iter().for_each(|run| self.engine.skip_grace(run));
    }

    /// Says something to the model of a running task.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn steer(&self, text: &str) -> Result<(), AppError> {
        let dedupe = everloop_engine::fresh_id("steer_", self.engine.clock().now());
        let message = InboxMessage::Steer { text: text.to_owned() };
        self.engine.send(self.run, &dedupe, &message).await?;
        Ok(())
    }

    /// After a limit the person may let the run go on, or ask for an answer with what there is.
    pub(super) async fn handle_limit_reply(
        &self,
        word: &str,
        approve_all: bool,
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
        let options = ForkOptions { approve_all, ..ForkOptions::default() };
        let forked = forks::continue_run(self.app, self.engine, self.run, options, message).await?;
        Ok(Some(Reaction::Follow(forked, None)))
    }
}

impl Conversation {
    /// One run of the conversation.
    #[must_use]
    pub fn run<'c>(&'c self, run: &'c RunId) -> ConversationRun<'c> {
        ConversationRun { app: &self.app, engine: &self.engine, run }
    }

    /// The newest run of the conversation that is under way and that no other terminal has.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn working_run(&self) -> Result<Option<RunId>, AppError> {
        let terminals = &self.questions.terminals;
        let open = self.questions.open_runs().await?;
        let others = terminals.of_others().runs;
        let is_ours = |run: &RunId| terminals.has(run) || !others.contains(run);
        let mut going = open.into_iter().filter(|(_, status)| *status != Status::Waiting);
        Ok(going.find(|(run, _)| is_ours(run)).map(|(run, _)| run))
    }

    /// Notes what a stop means for the next line. Call it when the stop is shown.
    pub async fn note_stop(&mut self, run: &RunId, stop: &RunStop) {
        match stop {
            RunStop::Ended(details) => {
                self.place.mark_read(self.engine.store()).await;
                self.questions.terminals.forget(run);
                let run = &details.row.run;
                self.unsettled.run = details.has_open_unknown().then(|| run.clone());
                let at_limit = is_at_limit(details);
                self.at_limit = at_limit.then(|| run.clone());
            }
            RunStop::Continued { to, .. } => {
                self.questions.terminals.forget(run);
                self.questions.terminals.take(to);
            }
            RunStop::Asks(open) => self.questions.show(open.clone()),
            RunStop::ModelUnavailable(_) => {}
        }
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
}

/// Whether a run ended because a limit was reached.
#[must_use]
pub fn is_at_limit(details: &RunDetails) -> bool {
    matches!(details.reason(), Some(Reason::StepLimit { .. } | Reason::Budget { .. }))
}
