//! A call whose outcome nobody knows: the person says what happened, or lets the tool look.

use super::session::{Heard, Session};
use crate::args::Word;
use crate::commands::{family, settle};
use crate::exit::Failure;
use everloop_agenda::door::OpenQuestion;
use everloop_engine::{OpenUnknown, Settling};
use everloop_text as text;
use everloop_text::Told;
use everloop_types::RunId;

/// Runs of the conversation in which an open call is looked for.
const RUNS_LOOKED_AT: usize = 50;

impl Session {
    /// `/settle [1|2|3] [ID]`: without a word, what is open and how to say it.
    pub(super) async fn settle(&mut self, rest: &str) -> Result<Heard, Failure> {
        let (word, id) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (word, id) = match settling_word(word) {
            Some(word) => (Some(word), id.trim()),
            None => (None, rest),
        };
        let run = match id {
            "" => None,
            id => match self.app.find_run(self.store(), id).await {
                Ok(run) => Some(run),
                Err(failure) => return Ok(Heard::Said(failure.words)),
            },
        };
        let Some(open) = self.open_call(run).await? else {
            return Ok(Heard::Said(self.text(text::chat::nothing_to_settle())));
        };
        match word {
            Some(word) => self.said_of(&open, word).await,
            None => Ok(Heard::Said(self.how_to_settle(&open))),
        }
    }

    /// The call that a run waits with or has ended with, and how to settle it.
    pub(super) fn how_to_settle(&self, open: &OpenUnknown) -> String {
        format!("{}\n{}", settle::line(&self.app, open), self.text(text::chat::settle()))
    }

    /// The first call of a run that is still unknown; of the newest run that has one if none is
    /// named.
    pub(super) async fn open_call(
        &self,
        run: Option<RunId>,
    ) -> Result<Option<OpenUnknown>, Failure> {
        let fail = |error| self.fail(&error);
        let runs = match run {
            Some(run) => vec![run],
            None => {
                let all = self.store().runs_of(&self.door.conversation, RUNS_LOOKED_AT).await;
                all.map_err(fail)?
            }
        };
        for run in runs {
            let open = self.engine.open_unknowns(&run).await.map_err(fail)?;
            if let Some(open) = open.into_iter().find(|open| open.settled.is_none()) {
                return Ok(Some(open));
            }
        }
        Ok(None)
    }

    /// Carries out what was said of a call. A run that waited for it goes on.
    pub(super) async fn said_of(
        &mut self,
        open: &OpenUnknown,
        word: Word,
    ) -> Result<Heard, Failure> {
        let run = &open.effect.run;
        let said = settle::carried_out(&self.app, &self.engine, open, word).await?;
        let mut words: Vec<String> = said.probed.into_iter().collect();
        let Some((settled, settling)) = said.settling else {
            words.push(self.text(text::chat::settle()));
            self.unsettled = Some(run.clone());
            return Ok(Heard::Said(words.join("\n")));
        };
        self.unsettled = None;
        if settling == Settling::Answered {
            self.forget_question_of(run);
            words.iter().for_each(|line| crate::terminal::complain(line));
            return Ok(Heard::Follow(family::top(&self.app, self.store(), run).await?));
        }
        words.push(settle::words(&self.app, run, open, settled, settling)?);
        if let Some(next) = self.open_call(Some(run.clone())).await? {
            words.push(self.how_to_settle(&next));
            self.unsettled = Some(run.clone());
        }
        Ok(Heard::Said(words.join("\n")))
    }

    /// Whether a call happened is no matter for any words: nothing but the choices is an answer.
    pub(super) async fn answer_settling(
        &mut self,
        open: OpenQuestion,
        text: &str,
    ) -> Result<Heard, Failure> {
        let call = self.open_call(Some(open.run.clone())).await?;
        match (call, settling_word(text)) {
            (Some(call), Some(word)) => self.said_of(&call, word).await,
            (Some(call), None) => Ok(Heard::Said(self.not_settled(&call, text))),
            (None, _) => {
                self.seen = None;
                Ok(Heard::Said(self.text(text::run::already_answered())))
            }
        }
    }

    /// A line after a run that ended with an open call: it says what happened, puts that off, or
    /// is asked for again. It is a new goal only once nothing is asked.
    pub(super) async fn settles(&mut self, line: &str) -> Result<Option<Heard>, Failure> {
        let Some(run) = self.unsettled.clone() else { return Ok(None) };
        let Some(open) = self.open_call(Some(run)).await? else {
            self.unsettled = None;
            return Ok(None);
        };
        if everloop_text::is_later(line) || everloop_text::is_stop(line) {
            self.unsettled = None;
            return Ok(Some(Heard::Said(self.text(text::chat::settle_later()))));
        }
        Ok(Some(match settling_word(line) {
            Some(word) => self.said_of(&open, word).await?,
            None => Heard::Said(self.not_settled(&open, line)),
        }))
    }

    /// A line that does not say what happened, and the question again.
    fn not_settled(&self, open: &OpenUnknown, line: &str) -> String {
        let unclear = self.text(text::answer::unclear_settle(&line.trim()));
        format!("{unclear}\n{}", self.how_to_settle(open))
    }
}

/// What a word means of a call whose outcome is unknown, if it means anything.
fn settling_word(word: &str) -> Option<Word> {
    everloop_text::told(word).map(|told| match told {
        Told::Happened => Word::Happened,
        Told::DidNot => Word::Not,
        Told::Look => Word::Probe,
    })
}
