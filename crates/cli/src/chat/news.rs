//! What runs that nobody looks at have to say: those in the background, and those that another
//! process drives.

use super::follow::Still;
use super::session::Session;
use crate::trouble::{Read, Trouble};
use everloop_engine::Update;
use everloop_text as text;
use everloop_types::journal::Kind;
use everloop_types::{RunId, Status};

impl Session {
    /// What an update means for the person. Runs of other terminals speak there.
    pub(super) async fn news_in(&mut self, update: &Update) -> Option<String> {
        let Update::Entry(run, entry) = update else { return None };
        if !matches!(entry.kind, Kind::RunFinished(_) | Kind::Waiting(_)) {
            return None;
        }
        if !self.is_ours(run).await {
            return None;
        }
        self.news_of(run).await
    }

    /// The ends of this terminal's runs that the person was not told of: they came while another
    /// run was looked at, or another process drove them.
    pub(super) async fn unheard(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for run in self.terminals().own() {
            // A store that fails for a moment is looked at again.
            let at = self.store().position(&run).await.ok().flatten();
            if at.is_some_and(|at| at.status.is_final() || at.status == Status::Quarantined) {
                lines.extend(self.news_of(&run).await);
            }
        }
        lines
    }

    async fn news_of(&mut self, run: &RunId) -> Option<String> {
        match self.still(run).await.ok()?? {
            Still::Over(shown) => {
                self.terminals_mut().forget(run);
                let status = everloop_text::status(self.app.lang, shown.row.status);
                let said = self.text(text::chat::ended(&run, &status));
                let trouble = Trouble::of_run(&self.app, &shown);
                let words = trouble.as_ref().map(|it| it.words(&self.app, Read::InChat));
                let lines = [Some(said), shown.said(trouble.as_ref()), words];
                Some(lines.into_iter().flatten().collect::<Vec<_>>().join("\n"))
            }
            Still::GoesOn(words, to) => {
                self.terminals_mut().forget(run);
                self.terminals_mut().take(&to);
                Some(words)
            }
            Still::Asks(_) => Some(self.text(text::chat::will_ask(&run))),
            Still::NoModel(_) => None,
        }
    }
}
