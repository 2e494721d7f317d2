//! What runs that nobody looks at have to say: those in the background, and those that another
//! process drives.

use super::{Conversation, RunStop};
use everloop_engine::Update;
use everloop_types::journal::EntryKind;
use everloop_types::{RunId, Status};

/// A run that nobody looked at has stopped.
pub struct News {
    /// The run.
    pub run: RunId,
    /// Why.
    pub stop: RunStop,
}

impl Conversation {
    /// What an update means for the person. Runs of other terminals speak there.
    pub async fn news_in(&mut self, update: &Update) -> Option<News> {
        let Update::Entry(run, entry) = update else { return None };
        if !matches!(entry.kind, EntryKind::RunFinished(_) | EntryKind::Waiting(_)) {
            return None;
        }
        if !self.questions.is_ours(run).await {
            return None;
        }
        news_of(self, run).await
    }

    /// The ends of this terminal's runs that the person was not told of: they came while another
    /// run was looked at, or another process drove them.
    pub async fn missed_news(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        for run in self.questions.terminals.own() {
            // A store that fails for a moment is looked at again.
            let at = self.store().runs().position(&run).await.ok().flatten();
            if at.is_some_and(|at| at.status.is_final() || at.status == Status::Quarantined) {
                news.extend(news_of(self, &run).await);
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
