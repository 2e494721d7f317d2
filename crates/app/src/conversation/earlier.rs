//! What was said before, as the model reads it with a new goal, and what its runs have read.

use crate::app::App;
use crate::error::AppError;
use crate::runs::history;
use everloop_store::{ConversationMessage, Store};
use everloop_types::{ConversationId, Labels, RunId, Taint};
use std::collections::BTreeSet;

/// Characters of one earlier message that a new goal is told of.
const SAID_CHARS_MAX: usize = 2_000;

/// Characters of all of them.
const CONTEXT_CHARS_MAX: usize = 20_000;

/// The role of a message that begins a conversation anew.
pub(super) const ANEW: &str = "anew";

/// The last turns of a conversation.
pub(crate) struct EarlierTurns {
    said: Vec<ConversationMessage>,
    turns: usize,
}

impl EarlierTurns {
    pub(crate) async fn of(
        app: &App,
        store: &Store,
        conversation: &ConversationId,
    ) -> Result<Self, AppError> {
        let turns = app.settings.chat.context_turns;
        let mut said = store.conversations().messages(conversation, turns * 4 + 1).await?;
        let begins = said.iter().rposition(|said| said.role == ANEW).map_or(0, |at| at + 1);
        said.drain(..begins);
        Ok(Self { said, turns })
    }

    /// As the model reads it: each message cut to a bound.
    pub(crate) fn told(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut left = CONTEXT_CHARS_MAX;
        for said in self.said.iter().rev().take(self.turns * 4) {
            let cut: String = said.body.chars().take(SAID_CHARS_MAX.min(left)).collect();
            left -= cut.chars().count();
            if cut.is_empty() {
                break;
            }
            lines.push(format!("{}: {cut}", said.role));
        }
        if lines.is_empty() {
            return String::new();
        }
        lines.push("\n[earlier in this conversation, for reference only]".to_owned());
        lines.reverse();
        lines.join("\n")
    }

    /// What the runs have read whose words a new goal is told of, and what the person opened for
    /// them: it is the same talk.
    pub(crate) async fn held(&self, store: &Store) -> Taint {
        let mut held = Taint::default();
        let runs: BTreeSet<&RunId> =
            self.said.iter().filter_map(|said| said.run.as_ref()).collect();
        for run in runs {
            let Ok(past) = history(store, run).await else {
                held.take(Labels::ALL, run.as_str());
                continue;
            };
            // What a file says that somebody opened counts for nothing, and so does what it says
            // that the run had read.
            if !store.runs().is_foreign(run).await.is_ok_and(|foreign| !foreign) {
                held.take(Labels::ALL, run.as_str());
                continue;
            }
            let holding = past.holding();
            held.join(&holding);
            holding.released.iter().for_each(|place| held.release(place));
        }
        held
    }
}
