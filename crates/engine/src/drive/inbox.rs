//! Messages to the run: cancels, answers of people, reports of children.

use super::delegate::Delegator;
use super::permit::PermissionGate;
use super::{DriveError, Driver};
use everloop_loops::CallStage;
use everloop_store::{NewMessage, TakenMessage};
use everloop_text::OutcomeReport;
use everloop_types::journal::{EntryKind, InboxMessage, Input};
use everloop_types::{Ending, Observation, QuestionKind};

/// What the inbox contained.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InboxNews {
    Nothing,
    Cancel,
}

/// Takes the messages of a run from its inbox.
pub(super) struct InboxReader<'d, 'e> {
    pub(super) driver: &'d mut Driver<'e>,
}

impl InboxReader<'_, '_> {
    /// Reads the inbox if a message may have arrived since it was last read.
    pub(super) async fn read_if_signaled(&mut self) -> Result<InboxNews, DriveError> {
        match self.driver.inbox.unseen_version() {
            Some(version) => self.read(version).await,
            None => Ok(InboxNews::Nothing),
        }
    }

    /// Notes every new message and what it settles, though the signal may not have been raised in
    /// this process. The same transaction marks them as taken.
    pub(super) async fn read(&mut self, version: u64) -> Result<InboxNews, DriveError> {
        let driver = &mut *self.driver;
        let unread = driver.engine.store.inbox().unread(&driver.claim.run).await;
        let unread = unread.map_err(|source| driver.failed(source))?;
        driver.claim.inbox_ctr = unread.inbox_ctr;
        driver.inbox.seen = version;
        let already: Vec<String> = driver.pending.taken.iter().map(|t| t.dedupe.clone()).collect();
        let mut mail = InboxNews::Nothing;
        for (dedupe, message) in unread.messages {
            if already.contains(&dedupe) {
                continue;
            }
            if matches!(message, InboxMessage::Cancel { .. }) && !self.plant_ignored_cancel() {
                mail = InboxNews::Cancel;
            }
            // A run that was canceled first has no successor.
            if matches!(message, InboxMessage::Switch(_)) && mail == InboxNews::Cancel {
                continue;
            }
            let draft = self.driver.pending.drafts.len();
            self.driver.pending.taken.push(TakenMessage { dedupe: dedupe.clone(), draft });
            self.driver.note(None, EntryKind::Input(Input { dedupe, message: message.clone() }));
            match message {
                InboxMessage::Answer { question, text, by } => {
                    self.take_answer(&question, &text, by).await?
                }
                InboxMessage::Child(ended) => Delegator { driver: self.driver }.take_child(&ended),
                InboxMessage::Cancel { .. }
                | InboxMessage::Steer { .. }
                | InboxMessage::AnswerNow
                | InboxMessage::Switch(_) => {}
            }
        }
        Ok(mail)
    }

    /// An answer to a question that is no longer open settles nothing.
    async fn take_answer(&mut self, id: &str, text: &str, by: String) -> Result<(), DriveError> {
        let asked = self.driver.run.open_tool_calls().iter().find_map(|open| match &open.stage {
            CallStage::Asked(question) if question.id == id => Some((open.clone(), question.kind)),
            _ => None,
        });
        let Some((open, kind)) = asked else { return Ok(()) };
        self.keep_answer(id, text);
        match kind {
            QuestionKind::Ask => self.driver.note_seen(&open, Observation::ok(text), 0),
            QuestionKind::Approve => {
                let mut gate = PermissionGate { driver: self.driver };
                gate.take_permission(&open, id, text, by).await?;
            }
            QuestionKind::Settle => self.driver.note_seen(&open, settled(text), 0),
        }
        Ok(())
    }

    /// Adds the answer to the conversation, where the question already is.
    fn keep_answer(&mut self, id: &str, text: &str) {
        let slot = format!("answer:{id}");
        let message_id = format!("msg_{}_{slot}", self.driver.claim.run);
        let (role, body) = ("user".to_owned(), text.to_owned());
        self.driver.pending.messages.push(NewMessage { slot, role, body, message_id });
    }
}

/// A person's statement about an effect with an unknown outcome.
fn settled(text: &str) -> Observation {
    match everloop_text::reported_outcome(text) {
        Some(OutcomeReport::Happened) => Observation::ok("it happened, as the user says"),
        Some(OutcomeReport::DidNot) => {
            Observation::error("it did not happen, as the user says; it may be done again")
        }
        Some(OutcomeReport::Look) | None => Observation {
            ending: Ending::Unknown,
            text: "interrupted; it may or may not have happened; check before you repeat it"
                .to_owned(),
        },
    }
}
