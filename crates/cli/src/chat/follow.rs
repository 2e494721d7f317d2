//! Where a run that somebody looks at stands, and what is said when it stands still.

use super::session::{Heard, Session};
use crate::commands::{family, fork, reply, run, runs, switch};
use crate::exit::Failure;
use crate::show::Shown;
use crate::trouble::{Read, Trouble};
use everloop_agenda::door::{OpenQuestion, question_of};
use everloop_text as text;
use everloop_types::journal::{InboxMessage, WaitingOn};
use everloop_types::{QuestionKind, Reason, RunId, Status};
use std::time::Duration;

/// How often a run that another process drives is looked at.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(60);

/// Why a run stands still.
pub(super) enum Still {
    Over(Box<Shown>),
    /// Over, and another run goes on in its place: the line that says so, and that run.
    GoesOn(String, RunId),
    Asks(OpenQuestion),
    /// The model cannot be asked for now, and what to do about it.
    NoModel(String),
}

impl Session {
    /// The newest run of the conversation that is under way and that no other terminal has.
    pub(super) async fn going(&self) -> Result<Option<RunId>, Failure> {
        let open = self.door.open_runs(self.store()).await;
        let open = open.map_err(|error| self.fail(&error))?;
        let others = self.terminals().of_others();
        let is_ours = |run: &RunId| self.terminals().has(run) || !others.contains(run);
        let mut going = open.into_iter().filter(|(_, status)| *status != Status::Waiting);
        Ok(going.find(|(run, _)| is_ours(run)).map(|(run, _)| run))
    }

    /// Whether the run stands still, and why.
    pub(super) async fn still(&self, run: &RunId) -> Result<Option<Still>, Failure> {
        let at = self.store().position(run).await.map_err(|error| self.fail(&error))?;
        let status = at.map_or(Status::Failed, |at| at.status);
        if status.is_final() || status == Status::Quarantined {
            if let Some((words, to)) = switch::successor(&self.app, self.store(), run).await? {
                return Ok(Some(Still::GoesOn(words, to)));
            }
            let shown = runs::shown(&self.app, self.store(), run).await?;
            return Ok(Some(Still::Over(Box::new(shown))));
        }
        if status != Status::Waiting {
            return Ok(None);
        }
        let asks = question_of(self.store(), run).await.map_err(|error| self.fail(&error))?;
        if let Some(question) = asks {
            return Ok(Some(Still::Asks(question)));
        }
        let front = family::front(&self.app, self.store(), run).await?;
        let shown = runs::shown(&self.app, self.store(), &front).await?;
        let now = self.engine.clock().now();
        // One that is due is about to be tried again.
        let is_due = shown.row.times.wake_at.is_some_and(|at| at <= now);
        Ok(match shown.waiting_on {
            Some(WaitingOn::Model { .. }) if !is_due => {
                let trouble = Trouble::of_run(&self.app, &shown);
                let words = trouble.map(|trouble| trouble.words(&self.app, Read::InChat));
                Some(Still::NoModel(words.unwrap_or_default()))
            }
            _ => None,
        })
    }

    /// Waits until the run stands still.
    pub(super) async fn until_still(&self, run: &RunId) -> Result<(), Failure> {
        while self.still(run).await?.is_none() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// A run that waits for a model is tried again now, because somebody wants it.
    pub(super) async fn wake(&self, run: &RunId) -> Result<(), Failure> {
        let fail = |error| self.fail(&error);
        self.store().reset_stall_count(run).await.map_err(fail)?;
        if let Some(Still::NoModel(_)) = self.still(run).await? {
            // Whoever has the right to drive takes it up.
            let front = family::front(&self.app, self.store(), run).await?;
            self.engine.wake_now(&front).await.map_err(fail)?;
        }
        Ok(())
    }

    /// Asks the run to go on under another loop, with what this session allows its runs; `Err` says
    /// why that cannot be asked. Later goals are that loop's in any case, if there is such a loop.
    pub(super) async fn wish(
        &mut self,
        run: &RunId,
        loop_name: &str,
    ) -> Result<Result<String, String>, Failure> {
        let yes = self.choice.policy.approve_all;
        let wished = switch::wish(&self.app, &self.engine, run, loop_name, yes).await?;
        let Ok(name) = run::loop_name(&self.app, loop_name) else { return Ok(wished) };
        let now = self.text(text::chat::loop_now(&name));
        self.choice.loop_name = name;
        let both = |words: String| format!("{words}\n{now}");
        Ok(wished.map(both).map_err(both))
    }

    /// What follows the answer of a run that is over: its numbers, and what can be done.
    pub(super) fn afterword(&mut self, shown: &Shown) -> Vec<String> {
        let id = shown.row.run.as_str();
        let trouble = Trouble::of_run(&self.app, shown);
        let mut lines: Vec<String> =
            trouble.iter().map(|trouble| trouble.words(&self.app, Read::InChat)).collect();
        lines.push(shown.summary(&self.app));
        self.unsettled = shown.has_open_unknown().then(|| shown.row.run.clone());
        let open = shown.unknowns.iter().filter(|open| open.settled.is_none());
        lines.extend(open.take(1).map(|open| self.how_to_settle(open)));
        let at_limit =
            matches!(shown.reason(), Some(Reason::StepLimit { .. } | Reason::Budget { .. }));
        self.at_limit = at_limit.then(|| shown.row.run.clone());
        if at_limit {
            lines.push(self.text(text::chat::at_limit()));
        }
        if shown.row.status == Status::Canceled {
            lines.push(self.text(text::chat::fork_goes_on(&id)));
        }
        lines
    }

    /// After a limit the person may let the run go on, or ask for an answer with what there is.
    pub(super) async fn handle_limit_reply(
        &mut self,
        run: &RunId,
        word: &str,
    ) -> Result<Option<Heard>, Failure> {
        let lang = self.app.lang;
        let said = everloop_text::bare(word);
        let means = |words: text::Text| words.in_lang(lang).split('|').any(|known| known == said);
        let (go_on, answer) =
            (means(text::chat::words_go_on()), means(text::chat::words_answer_now()));
        self.at_limit = None;
        if !go_on && !answer {
            return Ok(None);
        }
        let letter = answer.then_some(InboxMessage::AnswerNow);
        let forked = fork::again(&self.app, &self.engine, run, "", letter).await?;
        Ok(Some(Heard::Follow(forked)))
    }

    /// How a question is to be answered, beside by any words.
    pub(super) fn how_to_answer(&self, open: &OpenQuestion) -> String {
        match open.question.kind {
            QuestionKind::Settle => self.text(text::chat::settle()),
            QuestionKind::Ask | QuestionKind::Approve => reply::how(&self.app, &open.question),
        }
    }
}
