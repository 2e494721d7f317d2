//! People: their letters, what they are asked, their answers. Their permission is in `permit`.

use super::{DriveError, Driven, Driver, Flow};
use everloop_loops::{CallStage, OpenToolCall};
use everloop_store::{NewMessage, NextStatus, TakenMessage};
use everloop_text as text;
use everloop_text::OutcomeReport;
use everloop_types::journal::{InboxMessage, Input, Kind, Waiting, WaitingOn};
use everloop_types::{Ending, Lang, Observation, Question, QuestionKind, ToolCall, Words};

/// What the inbox held.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mail {
    Nothing,
    Cancel,
}

impl Driver<'_> {
    /// Notes every letter that has come, and what it settles. Marked as taken in the same
    /// transaction.
    pub(super) async fn take_mail(&mut self) -> Result<Mail, DriveError> {
        match self.ear.news() {
            Some(rings) => self.read_mail(rings).await,
            None => Ok(Mail::Nothing),
        }
    }

    /// Takes what lies in the inbox, though the bell may not have rung for it here.
    pub(super) async fn read_mail(&mut self, rings: u64) -> Result<Mail, DriveError> {
        let unread = self.engine.store.inbox().unread(&self.claim.run).await;
        let unread = unread.map_err(|source| self.failed(source))?;
        self.claim.inbox_ctr = unread.inbox_ctr;
        self.ear.heard = rings;
        let already: Vec<String> = self.pending.taken.iter().map(|t| t.dedupe.clone()).collect();
        let mut mail = Mail::Nothing;
        for (dedupe, letter) in unread.messages {
            if already.contains(&dedupe) {
                continue;
            }
            if matches!(letter, InboxMessage::Cancel { .. }) && !self.plant_deafness() {
                mail = Mail::Cancel;
            }
            // Nobody goes on in place of a run that was canceled first.
            if matches!(letter, InboxMessage::Switch(_)) && mail == Mail::Cancel {
                continue;
            }
            let draft = self.pending.drafts.len();
            self.pending.taken.push(TakenMessage { dedupe: dedupe.clone(), draft });
            self.note(None, Kind::Input(Input { dedupe, letter: letter.clone() }));
            match letter {
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

    /// What a person answered is said in the conversation, as the question was.
    fn keep_answer(&mut self, id: &str, text: &str) {
        let slot = format!("answer:{id}");
        let message_id = format!("msg_{}_{slot}", self.claim.run);
        let (role, body) = ("user".to_owned(), text.to_owned());
        self.pending.messages.push(NewMessage { slot, role, body, message_id });
    }

    /// A tool wants to know something: `请确认：…` (PR-9).
    pub(super) async fn ask_person(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
        text: String,
    ) -> Result<Flow, DriveError> {
        let asked = match without_prefix(&text) {
            "" => text::confirm::missing().words(),
            said => Words::Said(said.to_owned()),
        };
        let language = self.run.frame().language;
        let prefix = text::confirm::prefix().in_lang(language);
        let words = Words::Said(format!("{prefix}{}", everloop_text::render(&asked, language)));
        self.question(open, QuestionKind::Ask, call, text, &words).await
    }

    /// Nobody knows whether the effect happened, and its tool wants a person to say.
    pub(super) async fn ask_to_settle(
        &mut self,
        open: &OpenToolCall,
        call: &ToolCall,
    ) -> Result<Flow, DriveError> {
        let words =
            text::settle::question(&call.tool, &everloop_types::visible_call(&call.args)).words();
        self.question(open, QuestionKind::Settle, call, call.args.clone(), &words).await
    }

    pub(super) async fn question(
        &mut self,
        open: &OpenToolCall,
        kind: QuestionKind,
        call: &ToolCall,
        text: String,
        words: &Words,
    ) -> Result<Flow, DriveError> {
        let word = match kind {
            QuestionKind::Ask => "ask",
            QuestionKind::Approve => "approve",
            QuestionKind::Settle => "settle",
        };
        self.put(question_id(open, word), kind, call, text, words).await
    }

    pub(super) async fn put(
        &mut self,
        id: String,
        kind: QuestionKind,
        call: &ToolCall,
        text: String,
        words: &Words,
    ) -> Result<Flow, DriveError> {
        let question = Question { id: id.clone(), kind, call: call.id.clone(), text };
        self.emit(format!("ask:{id}"), words);
        self.await_answer(question).await
    }

    /// Parks without a worker until the answer comes. A letter that came meanwhile keeps the run
    /// awake.
    pub(super) async fn await_answer(&mut self, question: Question) -> Result<Flow, DriveError> {
        let on = WaitingOn::Person { question };
        self.note(None, Kind::Waiting(Waiting { on: on.clone(), until: None }));
        self.commit(NextStatus::Park { wake_at: None, note: "person".to_owned() }).await?;
        Ok(Flow::Over(Driven::Parked(on)))
    }
}

/// What names a question; an effect has at most one of each word.
pub(super) fn question_id(open: &OpenToolCall, word: &str) -> String {
    format!("q{}.{}.{word}", open.effect.cause, open.effect.index)
}

/// A question without the words that every question begins with: some models write them, too.
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

/// What a person says about an effect whose outcome nobody knew.
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
