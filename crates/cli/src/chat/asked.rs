//! The question that the person has before them: which one it is, and what a line does to it.
//!
//! Only a question of this terminal's own is answered by a bare line: of a run that was begun here,
//! that was taken up here (`/resume`), or that a chat left which is gone. Questions that another
//! terminal shows are announced, and need `/resume`.

use super::session::{Heard, Session};
use crate::commands::{family, reply};
use crate::exit::Failure;
use crate::show::preview;
use crate::terminal;
use everloop_agenda::door::{OpenQuestion, question_of};
use everloop_engine::{Asked, Update};
use everloop_store::{RunFilter, RunRow, Sent};
use everloop_text as text;
use everloop_types::{QuestionKind, RunId, Status};
use std::time::Duration;

/// How long the chat waits for a canceled run to end.
const CANCEL_WITHIN: Duration = Duration::from_secs(10);

impl Session {
    /// The question that the next plain line will answer, if it has not been shown yet.
    pub(super) async fn question_to_show(&mut self) -> Result<Option<OpenQuestion>, Failure> {
        if self.seen.is_some() && self.is_still_asked().await? {
            return Ok(None);
        }
        self.seen = None;
        for run in self.waiting().await? {
            if self.terminals().has(&run)
                && let Some(open) = self.asks(&run).await?
            {
                self.seen = Some(open.clone());
                return Ok(Some(open));
            }
        }
        Ok(None)
    }

    /// Whether the question that the person has before them is still open.
    pub(super) async fn is_still_asked(&self) -> Result<bool, Failure> {
        let Some(seen) = &self.seen else { return Ok(false) };
        let still = self.asks(&seen.run).await?;
        Ok(still.is_some_and(|still| still.question.id == seen.question.id))
    }

    /// Says that the question before the person was answered elsewhere, if it was.
    pub(super) async fn gone_question(&mut self) -> Option<String> {
        // A store that fails for a moment is looked at again.
        if self.seen.is_none() || self.is_still_asked().await.unwrap_or(true) {
            return None;
        }
        let seen = self.seen.take()?;
        let id = family::top(&self.app, self.store(), &seen.run).await.unwrap_or(seen.run);
        Some(self.text(text::chat::question_gone(&id)))
    }

    /// Whether something happened to the run whose question the person has before them.
    pub(super) fn asks_in(&self, update: &Update) -> bool {
        let Update::Entry(run, _) = update else { return false };
        self.seen.as_ref().is_some_and(|seen| seen.run == *run)
    }

    /// Questions that other terminals show, each told of once.
    pub(super) async fn questions_of_others(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for run in self.waiting().await.unwrap_or_default() {
            if self.terminals().has(&run) {
                continue;
            }
            let Ok(Some(open)) = self.asks(&run).await else { continue };
            if self.terminals_mut().announces(&run, &open.question.id) {
                let (id, question) = (run.as_str(), preview(&open.text));
                lines.push(self.text(text::chat::other_asks(&question, &id)));
            }
        }
        lines
    }

    /// Runs that `run` or `-p` began and that wait for an answer, in words.
    pub(super) async fn waiting_elsewhere(&self) -> Result<Option<String>, Failure> {
        let filter = RunFilter { statuses: vec![Status::Waiting], before: None, most: 100 };
        let rows = self.store().runs(&filter).await.map_err(|error| self.fail(&error))?;
        let is_elsewhere = |row: &&RunRow| {
            row.origin.parent.is_none() && row.conversation != self.door.conversation
        };
        let mut asking = 0;
        for row in rows.iter().filter(is_elsewhere) {
            asking += usize::from(self.asks(&row.run).await?.is_some());
        }
        Ok(match asking {
            0 => None,
            _ => Some(self.text(text::chat::some_wait(&asking))),
        })
    }

    /// Takes up the questions that no other terminal has before it.
    pub(super) async fn take_up_questions(&mut self) -> Result<(), Failure> {
        let others = self.terminals().of_others();
        for run in self.waiting().await? {
            if !others.contains(&run) {
                self.terminals_mut().take(&run);
            }
        }
        Ok(())
    }

    /// A run that is over asks nothing any more, whoever answered it.
    pub(super) fn forget_question_of(&mut self, over: &RunId) {
        self.seen = self.seen.take().filter(|seen| seen.run != *over);
    }

    /// The line that a question still waits, after something else was said.
    pub(super) fn reminder_of_question(&self) -> Option<String> {
        let seen = self.seen.as_ref()?;
        let question = preview(seen.text.lines().next().unwrap_or_default());
        Some(self.text(text::chat::still_open(&question)))
    }

    /// Cancels the run whose question is open, or the newest one of this terminal.
    pub(super) async fn cancel(&mut self) -> Result<String, Failure> {
        let Some(run) = self.current().await? else {
            return Ok(self.text(text::door::nothing_to_cancel()));
        };
        let sent = self.engine.cancel(&run, "user").await;
        sent.map_err(|error| self.fail(&error))?;
        // Whoever drives it ends it soon; if nobody does, its cancel waits in its inbox.
        let _ = tokio::time::timeout(CANCEL_WITHIN, self.until_still(&run)).await;
        self.seen = None;
        self.terminals_mut().forget(&run);
        Ok(self.text(text::door::canceled()))
    }

    /// The run that a cancel is about.
    async fn current(&self) -> Result<Option<RunId>, Failure> {
        if let Some(seen) = &self.seen {
            return family::top(&self.app, self.store(), &seen.run).await.map(Some);
        }
        let open = self.door.open_runs(self.store()).await.map_err(|error| self.fail(&error))?;
        Ok(open.into_iter().map(|(run, _)| run).find(|run| self.terminals().has(run)))
    }

    pub(super) async fn answer(
        &mut self,
        open: OpenQuestion,
        line: String,
    ) -> Result<Heard, Failure> {
        if open.question.kind == QuestionKind::Settle {
            return self.answer_settling(open, &line).await;
        }
        let (text, said) = match reply::taken(&self.app, &open.question, &line) {
            reply::Taken::Sent { text, said } => (text, said),
            reply::Taken::Again(words) => return Ok(Heard::Said(words)),
        };
        self.seen = None;
        let answer = Asked { question: open.question.id, text, by: "user".to_owned() };
        let sent = self.engine.answer(&open.run, answer).await;
        match sent.map_err(|error| self.fail(&error))? {
            Sent::Accepted => {
                terminal::complain(&said);
                Ok(Heard::Follow(family::top(&self.app, self.store(), &open.run).await?))
            }
            // It was meant as an answer: it is no goal, though nobody asks any more.
            Sent::AlreadySent | Sent::Finished(_) | Sent::NoSuchRun => {
                Ok(Heard::Said(self.text(text::chat::answered_elsewhere(&line))))
            }
        }
    }

    /// Whether news of a run are for this terminal: it has the run, or the run is of this
    /// conversation and the terminal that had it is gone.
    pub(super) async fn is_ours(&mut self, run: &RunId) -> bool {
        let Ok(top) = family::top(&self.app, self.store(), run).await else { return false };
        if self.terminals().has(&top) {
            return true;
        }
        let row = self.store().run(&top).await.ok().flatten();
        let is_here = row.is_some_and(|row| row.conversation == self.door.conversation);
        is_here && !self.terminals().of_others().contains(&top) && !self.terminals().is_told(&top)
    }

    /// The runs of the conversation that wait, the newest first.
    async fn waiting(&self) -> Result<Vec<RunId>, Failure> {
        let open = self.door.open_runs(self.store()).await.map_err(|error| self.fail(&error))?;
        let waiting = open.into_iter().filter(|(_, status)| *status == Status::Waiting);
        Ok(waiting.map(|(run, _)| run).collect())
    }

    async fn asks(&self, run: &RunId) -> Result<Option<OpenQuestion>, Failure> {
        question_of(self.store(), run).await.map_err(|error| self.fail(&error))
    }
}
