//! What runs that nobody looks at have to say: those in the background, and those that another
//! process drives.

use super::{Conversation, RunStop};
use crate::error::AppError;
use everloop_engine::Update;
use everloop_types::journal::EntryKind;
use everloop_types::{RunId, Status};
use std::collections::BTreeSet;

/// A run that nobody looked at has stopped.
pub struct News {
    /// The run.
    pub run: RunId,
    /// Why.
    pub stop: RunStop,
}

/// What a run of this conversation does that another terminal has.
pub enum NewsElsewhere {
    /// It works.
    Works {
        /// The run.
        run: RunId,
        /// Its goal.
        goal: String,
    },
    /// It has stopped for good.
    Stopped(Box<News>),
}

impl Conversation {
    /// What the person is told of runs that they do not look at.
    pub fn news(&mut self) -> ConversationNews<'_> {
        ConversationNews(self)
    }
}

/// What a person is told of runs that they do not look at.
pub struct ConversationNews<'a>(pub(super) &'a mut Conversation);

impl ConversationNews<'_> {
    /// What runs of this conversation do that another terminal has: each is told of when it works,
    /// and when it has ended.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn elsewhere(&mut self) -> Result<Vec<NewsElsewhere>, AppError> {
        let mut news = Vec::new();
        let open = self.0.questions.open_runs().await?;
        let others = if open.is_empty() {
            BTreeSet::new()
        } else {
            self.0.questions.terminals.of_others().runs
        };
        for (run, status) in &open {
            let terminals = &mut self.0.questions.terminals;
            let works = matches!(status, Status::Queued | Status::Running);
            if works && !terminals.has(run) && others.contains(run) && terminals.watches(run) {
                let row = self.0.store().runs().get(run).await?;
                let goal = row.map(|row| row.goal).unwrap_or_default();
                news.push(NewsElsewhere::Works { run: run.clone(), goal });
            }
        }
        for run in self.0.questions.terminals.watched() {
            if open.iter().any(|(open, _)| *open == run) {
                continue;
            }
            let stop = self.0.run(&run).stop().await?;
            self.0.questions.terminals.forget(&run);
            // A run that goes on in its place is told of when it works.
            if let Some(stop @ RunStop::Ended(_)) = stop {
                self.0.place.mark_read(self.0.store()).await;
                news.push(NewsElsewhere::Stopped(Box::new(News { run, stop })));
            }
        }
        Ok(news)
    }

    /// Whether a run of this conversation is watched that another terminal has.
    #[must_use]
    pub fn watches_others(&self) -> bool {
        !self.0.questions.terminals.watched().is_empty()
    }

    /// What an update means for the person. Runs of other terminals speak there.
    pub async fn of_update(&mut self, update: &Update) -> Option<News> {
        let Update::Entry(run, entry) = update else { return None };
        if !matches!(entry.kind, EntryKind::RunFinished(_) | EntryKind::Waiting(_)) {
            return None;
        }
        if !self.0.questions.is_ours(run).await {
            return None;
        }
        news_of(self.0, run).await
    }

    /// The ends of this terminal's runs that the person was not told of: they came while another
    /// run was looked at, or another process drove them.
    pub async fn missed(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        for run in self.0.questions.terminals.own() {
            // A store that fails for a moment is looked at again.
            let at = self.0.store().runs().position(&run).await.ok().flatten();
            if at.is_some_and(|at| at.status.is_final() || at.status == Status::Quarantined) {
                news.extend(news_of(self.0, &run).await);
            }
        }
        news
    }
}

async fn news_of(chat: &mut Conversation, run: &RunId) -> Option<News> {
    let stop = chat.run(run).stop().await.ok()??;
    if let RunStop::Ended(_) = &stop {
        chat.place.mark_read(chat.engine.store()).await;
    }
    let terminals = &mut chat.questions.terminals;
    match &stop {
        RunStop::Ended(_) => terminals.forget(run),
        RunStop::Continued { to, .. } => {
            terminals.forget(run);
            terminals.take(to);
        }
        RunStop::Asks(_) => {}
        RunStop::ModelUnavailable(_) => return None,
    }
    Some(News { run: run.clone(), stop })
}
