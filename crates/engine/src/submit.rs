//! Creating runs and sending messages to them.

use crate::drive::log::log_store_retry;
use crate::{Engine, fresh_id};
use everloop_loops::AnyRun;
use everloop_store::{InboxSendResult, NewRun, RunCreation, StoreError};
use everloop_types::journal::{InboxMessage, RunCreated, Switch};
use everloop_types::{ConversationId, Frame, Goal, RunId, digest_json};
use tracing::info;

/// Tries at a store that fails for a moment.
const SUBMIT_TRIES_MAX: u32 = 3;

/// What a new run is made of.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The loop that decides.
    pub loop_name: String,
    /// What the user wants.
    pub goal: Goal,
    /// Frozen for the run.
    pub frame: Frame,
    /// The same key twice is the same run.
    pub idem_key: Option<String>,
}

/// The answer to an open question.
#[derive(Debug, Clone)]
pub struct QuestionAnswer {
    /// The question's id.
    pub question: String,
    /// The answer.
    pub text: String,
    /// Who answered.
    pub by: String,
}

impl Engine {
    /// Creates a run. When this returns, the run is durable and will be finished, whatever happens.
    ///
    /// # Errors
    /// If it could not be written; then there is no run.
    pub async fn submit(&self, submission: Submission) -> Result<RunId, StoreError> {
        let conversation = ConversationId::new(fresh_id("conv_", self.clock.now()));
        self.submit_in(conversation, submission).await
    }

    /// Creates a run in a conversation.
    ///
    /// # Errors
    /// As for [`Engine::submit`].
    pub async fn submit_in(
        &self,
        conversation: ConversationId,
        submission: Submission,
    ) -> Result<RunId, StoreError> {
        let now = self.clock.now();
        let run = RunId::new(fresh_id("run_", now));
        // Before digests are taken: what is folded is what is written.
        let redactor = self.store.redactor();
        let frame = redactor.value(submission.frame);
        let created = RunCreated {
            goal: redactor.value(submission.goal),
            loop_ver: AnyRun::version(&submission.loop_name).unwrap_or_default(),
            loop_name: submission.loop_name,
            frame: digest_json(&frame),
            build: self.identity.build.clone(),
            policy_hash: policy_hash(&frame),
        };
        let new = NewRun {
            run: run.clone(),
            conversation,
            created,
            frame,
            idem_key: submission.idem_key,
            now,
        };
        // A lost reply must not lead to a second run: the same id is written again.
        let mut tries = 0;
        loop {
            match self.store.queue().create_run(&new).await {
                Ok(RunCreation::New) => {
                    let RunCreated { goal, loop_name, .. } = &new.created;
                    info!(run = %run, "loop" = loop_name, content.goal = ?goal, "run created");
                    self.inbox_signals.wake_workers();
                    return Ok(run);
                }
                Ok(RunCreation::Existing(earlier)) => return Ok(earlier),
                Err(error) if tries >= SUBMIT_TRIES_MAX || !error.is_transient() => {
                    return Err(error);
                }
                Err(error) => {
                    log_store_retry(&error);
                    tries += 1;
                }
            }
            self.clock.pause(self.rules.backoff(tries, None)).await;
        }
    }

    /// Answers an open question. The first answer wins.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn answer(
        &self,
        run: &RunId,
        answer: QuestionAnswer,
    ) -> Result<InboxSendResult, StoreError> {
        let dedupe = answer.question.clone();
        let QuestionAnswer { question, text, by } = answer;
        self.send(run, &dedupe, &InboxMessage::Answer { question, text, by }).await
    }

    /// Asks the run to end.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn cancel(&self, run: &RunId, by: &str) -> Result<InboxSendResult, StoreError> {
        self.send(run, "cancel", &InboxMessage::Cancel { by: by.to_owned() }).await
    }

    /// Asks for the run to go on under another loop, as another run, from its next step boundary
    /// on. Returns that run's name; it exists once the first has ended for it.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn switch(
        &self,
        run: &RunId,
        loop_name: &str,
        frame: &Frame,
        context: String,
    ) -> Result<(RunId, InboxSendResult), StoreError> {
        let to = RunId::new(fresh_id("run_", self.clock.now()));
        let frame = serde_json::to_value(frame).unwrap_or_default();
        let loop_name = loop_name.to_owned();
        let switch = Switch { to: to.clone(), loop_name, frame, context };
        let sent = self.send(run, to.as_str(), &InboxMessage::Switch(Box::new(switch))).await?;
        Ok((to, sent))
    }

    /// Makes a run that waits for a time ready now.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn wake_now(&self, run: &RunId) -> Result<(), StoreError> {
        self.store.queue().wake_now(run, self.clock.now()).await?;
        self.inbox_signals.wake_workers();
        Ok(())
    }

    /// Sends any message; `dedupe` makes a repetition harmless.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn send(
        &self,
        run: &RunId,
        dedupe: &str,
        letter: &InboxMessage,
    ) -> Result<InboxSendResult, StoreError> {
        let sent = self.store.inbox().send(run, dedupe, letter, self.clock.now()).await?;
        self.inbox_signals.raise(run);
        self.inbox_signals.wake_workers();
        if matches!(letter, InboxMessage::Cancel { .. }) {
            // The message is in their inboxes; if this query fails they read it a little later.
            let below = self.store.runs().descendants(run).await.unwrap_or_default();
            below.iter().for_each(|run| self.inbox_signals.raise(run));
        }
        Ok(sent)
    }
}

/// Digest of a policy that an older program would not keep; nothing for a plain one.
pub(crate) fn policy_hash(frame: &Frame) -> String {
    match frame.policy.is_newer() {
        true => digest_json(&frame.policy),
        false => String::new(),
    }
}
