//! Messages from people, questions to them and their answers. Permission is in `permit`.

use super::{DriveEnd, DriveError, Driver, LoopFlow};
use everloop_loops::{CallStage, OpenToolCall};
use everloop_store::{NewMessage, NextStatus, TakenMessage};
use everloop_text as text;
use everloop_text::OutcomeReport;
use everloop_types::journal::{EntryKind, InboxMessage, Input, Waiting, WaitingOn};
use everloop_types::{Ending, Lang, Observation, Question, QuestionKind, ToolCall, Words};

/// What the inbox contained.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InboxNews {
    Nothing,
    Cancel,
}

impl Driver<'_> {
    /// Notes every new message and what it settles. The same transaction marks them as taken.
    pub(super) async fn take_messages(&mut self) -> Result<InboxNews, DriveError> {
        match self.inbox.unseen_version() {
            Some(version) => self.read_inbox(version).await,
            None => Ok(InboxNews::Nothing),
        }
    }

    /// Takes what is in the inbox, though its signal may not have been raised in this process.
    pub(super) async fn read_inbox(&mut self, version: u64) -> Result<InboxNews, DriveError> {
        let unread = self.engine.store.inbox().unread(&self.claim.run).await;
        let unread = unread.map_err(|source| self.failed(source))?;
        self.claim.inbox_ctr = unread.inbox_ctr;
        self.inbox.seen = version;
        let already: Vec<String> = self.pending.taken.iter().map(|t| t.dedupe.clone()).collect();
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
            let draft = self.pending.drafts.len();
            self.pending.taken.push(TakenMessage { dedupe: dedupe.clone(), draft });
            self.note(None, EntryKind::Input(Input { dedupe, message: message.clone() }));
            match message {
                InboxMessage::Answer { question, text, by } => {
                    self.take_answer(&question, &text, by)
                }
                InboxMessage::Child(ended) => self.take_child(&ended),
                InboxMessage::Cancel { .. }
                | InboxMessage::Steer { .. }
                | InboxMessage::AnswerNow
                | InboxMessage::Switch(_) => {}
            }
        }
        Ok(mail)
    }

    /// An answer to a question that is no longer open settles nothing.
    fn take_answer(&mut self, id: &str, text: &str, by: String) {
        let asked = self.run.open_tool_calls().iter().find_map(|open| match &open.stage {
            CallStage::Asked(question) if question.id == id => Some((open.clone(), question.kind)),
            _ => None,
        });
        let Some((open, kind)) = asked else { return };
        self.keep_answer(id, text);
        match kind {
            QuestionKind::Ask => self.note_seen(&open, Observation::ok(text), 0),
            QuestionKind::Approve => self.take_permission(&open, id, text, by),
            QuestionKind::Settle => self.note_seen(&open, settled(text), 0),
        }
    }

    /// Adds the answer to the conversation, where the question already is.
    fn keep_answer(&mut self, id: &str, text: &str) {
        let slot = format!("answer:{id}");
        let message_id = format!("msg_{}_{slot}", self.claim.run);
        let (role, body) = ("user".to_owned(), text.to_owned());
        self.pending.messages.push(NewMessage { slot, role, body, message_id });
    }

    /// Asks a tool's question: `请确认：…` (PR-9).
    pub(super) async fn ask_person(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
        text: String,
    ) -> Result<LoopFlow, DriveError> {
        let asked = match without_prefix(&text) {
            "" => text::confirm::missing().words(),
            said => Words::Said(said.to_owned()),
        };
        let language = self.run.frame().language;
        let prefix = text::confirm::prefix().in_lang(language);
        let words = Words::Said(format!("{prefix}{}", everloop_text::render(&asked, language)));
        self.ask_about(open, QuestionKind::Ask, call, text, &words).await
    }

    /// Asks whether an effect with an unknown outcome happened, if its tool wants a person to say.
    pub(super) async fn ask_to_settle(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
    ) -> Result<LoopFlow, DriveError> {
        let words =
            text::settle::question(&call.tool, &everloop_types::visible_call(&call.args)).words();
        self.ask_about(open, QuestionKind::Settle, call, call.args.clone(), &words).await
    }

    pub(super) async fn ask_about(
        &mut self,
        open: &OpenToolCall,
        kind: QuestionKind,
        call: &ToolCall,
        text: String,
        words: &Words,
    ) -> Result<LoopFlow, DriveError> {
        let word = match kind {
            QuestionKind::Ask => "ask",
            QuestionKind::Approve => "approve",
            QuestionKind::Settle => "settle",
        };
        self.ask_question(question_id(open, word), kind, call, text, words).await
    }

    pub(super) async fn ask_question(
        &mut self,
        id: String,
        kind: QuestionKind,
        call: &ToolCall,
        text: String,
        words: &Words,
    ) -> Result<LoopFlow, DriveError> {
        let question = Question { id: id.clone(), kind, call: call.id.clone(), text };
        self.emit(format!("ask:{id}"), words);
        self.await_answer(question).await
    }

    /// Parks the run, without a worker, until the answer comes. A message that arrived meanwhile
    /// keeps the run ready.
    pub(super) async fn await_answer(
        &mut self,
        question: Question,
    ) -> Result<LoopFlow, DriveError> {
        let on = WaitingOn::Person { question };
        self.note(None, EntryKind::Waiting(Waiting { on: on.clone(), until: None }));
        self.commit(NextStatus::Park { wake_at: None, note: "person".to_owned() }).await?;
        Ok(LoopFlow::Over(DriveEnd::Parked(on)))
    }
}

/// The id of a question; an effect has at most one for each word.
pub(super) fn question_id(open: &OpenToolCall, word: &str) -> String {
    format!("q{}.{}.{word}", open.effect.cause, open.effect.index)
}

/// A question without the standard prefix, which some models write themselves.
fn without_prefix(question: &str) -> &str {
    let mut question = question.trim();
    while let Some(rest) = [Lang::ZhCn, Lang::En].into_iter().find_map(|lang| {
        let prefix = text::confirm::prefix().in_lang(lang);
        let prefix = prefix.trim_end_matches([':', '：', ' ']);
        let rest = question.strip_prefix(prefix)?.trim_start();
        rest.strip_prefix([':', '：'])
    }) {
        question = rest.trim_start();
    }
    question
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
            text: "interrupted; whether it happened is unknown; inspect before repeating"
                .to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::without_prefix;

    #[test]
    fn a_prefix_that_the_model_wrote_itself_is_not_said_twice() {
        for (asked, bare) in [
            ("Please confirm: at what time?", "at what time?"),
            ("请确认：请确认：几点出发？", "几点出发？"),
            ("请确认: 几点出发？", "几点出发？"),
            ("Please confirm the time?", "Please confirm the time?"),
            ("At what time?", "At what time?"),
        ] {
            assert_eq!(without_prefix(asked), bare);
        }
    }
}
