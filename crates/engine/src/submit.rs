//! Creating runs and sending messages to them.

use crate::drive::log::log_store_retry;
use crate::{Engine, fresh_id};
use everloop_loops::AnyRun;
use everloop_ports::Submission;
use everloop_store::{
    InboxSendResult, NewConversation, NewRun, Redactor, RunCreation, RunLink, StoreError,
    TurnRecord,
};
use everloop_types::journal::{InboxMessage, RunCreated, Switch};
use everloop_types::{ConversationId, Frame, RunId, UtcMs, digest_json};
use tracing::info;

/// Tries at a store that fails for a moment.
const SUBMIT_TRIES_MAX: u32 = 3;

/// A run as it is written down by the program `build`. Secrets are replaced before digests are
/// taken: what is folded is what is written.
#[must_use]
pub fn submitted_run(
    submission: Submission,
    run: RunId,
    conversation: ConversationId,
    build: &str,
    now: UtcMs,
    redactor: &Redactor,
) -> NewRun {
    let frame = redactor.value(submission.frame);
    let created = RunCreated {
        goal: redactor.value(submission.goal),
        loop_ver: AnyRun::version(&submission.loop_name).unwrap_or_default(),
        loop_name: submission.loop_name,
        frame: digest_json(&frame),
        build: build.to_owned(),
        policy_hash: policy_hash(&frame),
        turn: None,
    };
    let (idem_key, profile) = (submission.idem_key, submission.profile);
    let link = RunLink::default();
    NewRun { run, conversation, created, frame, idem_key, profile, opens: None, now, link }
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
        self.create(conversation, None, submission).await
    }

    /// Creates a run and the conversation that tells of it, both or neither.
    ///
    /// # Errors
    /// As for [`Engine::submit`].
    pub async fn submit_opening(
        &self,
        opens: NewConversation,
        submission: Submission,
    ) -> Result<RunId, StoreError> {
        self.create(opens.id.clone(), Some(opens), submission).await
    }

    async fn create(
        &self,
        conversation: ConversationId,
        opens: Option<NewConversation>,
        submission: Submission,
    ) -> Result<RunId, StoreError> {
        let now = self.clock.now();
        let run = RunId::new(fresh_id("run_", now));
        let mut new = self.new_run(run.clone(), conversation, submission, None);
        new.opens = opens;
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

    /// A run as this process writes it.
    pub(crate) fn new_run(
        &self,
        run: RunId,
        conversation: ConversationId,
        submission: Submission,
        turn: Option<RunId>,
    ) -> NewRun {
        let (build, now) = (self.identity.build.as_str(), self.clock.now());
        let redactor = self.store.redactor();
        let mut new = submitted_run(submission, run, conversation, build, now, redactor);
        new.created.turn = turn;
        new
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

    /// Sends any message, and keeps in the same transaction what the request did that it came with.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn send_once(
        &self,
        run: &RunId,
        dedupe: &str,
        letter: &InboxMessage,
        record: Option<&TurnRecord>,
    ) -> Result<InboxSendResult, StoreError> {
        send_with(self, run, dedupe, letter, record).await
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
        send_with(self, run, dedupe, letter, None).await
    }
}

/// Sends a message, with a record of the request that it came with.
async fn send_with(
    engine: &Engine,
    run: &RunId,
    dedupe: &str,
    letter: &InboxMessage,
    record: Option<&TurnRecord>,
) -> Result<InboxSendResult, StoreError> {
    let (inbox, now) = (engine.store.inbox(), engine.clock.now());
    let sent = inbox.send_with(run, dedupe, letter, now, record).await?;
    engine.inbox_signals.raise(run);
    engine.inbox_signals.wake_workers();
    if matches!(letter, InboxMessage::Cancel { .. }) {
        // The message is in their inboxes; if this query fails they read it a little later.
        let below = engine.store.runs().descendants(run).await.unwrap_or_default();
        below.iter().for_each(|run| engine.inbox_signals.raise(run));
    }
    Ok(sent)
}

/// Digest of a policy that an older program would not keep; nothing for a plain one.
pub(crate) fn policy_hash(frame: &Frame) -> String {
    match frame.policy.is_newer() {
        true => digest_json(&frame.policy),
        false => String::new(),
    }
}
