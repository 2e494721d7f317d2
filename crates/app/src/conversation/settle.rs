//! A call whose outcome nobody knows: the person says what happened, or lets the tool look.

use super::{ChatReply, Conversation, OpenQuestions, Reaction};
use crate::error::AppError;
use crate::router::OpenQuestion;
use crate::runs;
use crate::settling::{SettleWord, settle};
use everloop_engine::{Engine, OpenUnknown, SettleResult};
use everloop_types::{ConversationId, RunId};
use std::sync::Arc;

/// Runs of the conversation in which an open call is looked for.
const RUNS_LOOKED_AT: usize = 50;

/// The calls of a conversation's runs whose outcome nobody knows.
pub(super) struct UnsettledCalls {
    engine: Arc<Engine>,
    conversation: ConversationId,
    /// A run that ended over such a call; the person may say what happened.
    pub(super) run: Option<RunId>,
}

impl UnsettledCalls {
    pub(super) fn new(engine: Arc<Engine>, conversation: ConversationId) -> Self {
        Self { engine, conversation, run: None }
    }

    /// The first call of a run that is still unknown; of the newest run that has one if none is
    /// named.
    async fn open_call(&self, run: Option<RunId>) -> Result<Option<OpenUnknown>, AppError> {
        let runs = match run {
            Some(run) => vec![run],
            None => {
                self.engine
                    .store()
                    .conversations()
                    .runs_of(&self.conversation, RUNS_LOOKED_AT)
                    .await?
            }
        };
        for run in runs {
            let open = self.engine.open_unknowns(&run).await?;
            if let Some(open) = open.into_iter().find(|open| open.settled.is_none()) {
                return Ok(Some(open));
            }
        }
        Ok(None)
    }

    /// Carries out what was said of a call. A run that waited for it goes on.
    async fn settle_call(
        &mut self,
        questions: &mut OpenQuestions,
        open: &OpenUnknown,
        word: SettleWord,
    ) -> Result<Reaction, AppError> {
        let run = &open.effect.run;
        let report = settle(&self.engine, open, word).await?;
        self.run = None;
        let settling = report.settled(run)?;
        let Some((_, settling)) = settling else {
            self.run = Some(run.clone());
            let again = Some(open.clone());
            return Ok(Reaction::Reply(ChatReply::Settled(Box::new(report), again)));
        };
        if *settling == SettleResult::Answered {
            questions.forget_of(run);
            let top = runs::top(self.engine.store(), run).await?;
            let note = report.probe.is_some().then(|| ChatReply::Settled(Box::new(report), None));
            return Ok(Reaction::Follow(top, note));
        }
        let next = self.open_call(Some(run.clone())).await?;
        self.run = next.is_some().then(|| run.clone());
        Ok(Reaction::Reply(ChatReply::Settled(Box::new(report), next)))
    }

    /// A line after a run that ended with an open call: it says what happened, puts that off, or
    /// is asked for again. It is a new goal only once nothing is asked.
    pub(super) async fn settle_by_line(
        &mut self,
        questions: &mut OpenQuestions,
        line: &str,
    ) -> Result<Option<Reaction>, AppError> {
        let Some(run) = self.run.clone() else { return Ok(None) };
        let Some(open) = self.open_call(Some(run)).await? else {
            self.run = None;
            return Ok(None);
        };
        if everloop_text::is_later(line) || everloop_text::is_stop(line) {
            self.run = None;
            return Ok(Some(Reaction::Reply(ChatReply::SettleLater)));
        }
        Ok(Some(match SettleWord::read(line) {
            Some(word) => self.settle_call(questions, &open, word).await?,
            None => Reaction::Reply(ChatReply::UnclearSettling(line.trim().to_owned(), open)),
        }))
    }
}

impl Conversation {
    /// `/settle [1|2|3] [ID]`: without a word, what is open and how to say it.
    pub(super) async fn settle(&mut self, rest: &str) -> Result<Reaction, AppError> {
        let (word, id) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (word, id) = match SettleWord::read(word) {
            Some(word) => (Some(word), id.trim()),
            None => (None, rest),
        };
        let run = match id {
            "" => None,
            id => Some(self.app.find_run(self.store(), id).await?),
        };
        let Some(open) = self.unsettled.open_call(run).await? else {
            return Ok(Reaction::Reply(ChatReply::NothingToSettle));
        };
        match word {
            Some(word) => self.unsettled.settle_call(&mut self.questions, &open, word).await,
            None => Ok(Reaction::Reply(ChatReply::ToSettle(open))),
        }
    }

    /// Whether a call happened is no matter for any words: nothing but the choices is an answer.
    pub(super) async fn answer_settling(
        &mut self,
        open: OpenQuestion,
        text: &str,
    ) -> Result<Reaction, AppError> {
        let call = self.unsettled.open_call(Some(open.run.clone())).await?;
        match (call, SettleWord::read(text)) {
            (Some(call), Some(word)) => {
                self.unsettled.settle_call(&mut self.questions, &call, word).await
            }
            (Some(call), None) => {
                Ok(Reaction::Reply(ChatReply::UnclearSettling(text.trim().to_owned(), call)))
            }
            (None, _) => {
                self.questions.clear();
                Ok(Reaction::Reply(ChatReply::AlreadyAnswered))
            }
        }
    }
}
