//! What was said before, as the model reads it with a new goal, and what its runs have read.

use super::file_notes::file_note;
use crate::app::App;
use crate::error::AppError;
use crate::runs::history;
use everloop_store::{ConversationMessage, Store, UndoRow};
use everloop_types::{ConversationId, Labels, RunId, Taint};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Characters of one earlier message that a new goal is told of.
const SAID_CHARS_MAX: usize = 2_000;

/// Characters of all of them.
const CONTEXT_CHARS_MAX: usize = 20_000;

/// The role of a message with which earlier programs began the one conversation anew.
const ANEW: &str = "anew";

/// The role of a message that sets a conversation back to before a turn; its text is the run.
pub(super) const REWOUND: &str = "rewound";

/// What stands before a word of the program itself.
const NOTE: &str = "note";

/// Whether a message only says where a conversation begins or goes back to.
pub(crate) fn is_mark(said: &ConversationMessage) -> bool {
    said.role == ANEW || said.role == REWOUND
}

/// The last turns of a conversation.
pub(crate) struct EarlierTurns {
    said: Vec<ConversationMessage>,
    /// What was undone of the files that these turns changed.
    undos: Vec<UndoRow>,
    turns: usize,
}

impl EarlierTurns {
    pub(crate) async fn of(
        app: &App,
        store: &Store,
        conversation: &ConversationId,
    ) -> Result<Self, AppError> {
        let turns = app.settings.chat.context_turns;
        let said = store.conversations().messages(conversation, turns * 4 + 1).await?;
        let said = since_marks(said);
        let mut undos = store.undos().of_conversation(conversation, turns * 4).await?;
        undos.retain(|undo| said.iter().any(|said| said.run.as_ref() == Some(&undo.run)));
        Ok(Self { said, undos, turns })
    }

    /// The messages and what was undone between them, as the model reads them.
    fn lines(&self) -> Vec<(&str, Cow<'_, str>)> {
        let mut undos = self.undos.iter().peekable();
        let mut lines = Vec::new();
        for said in &self.said {
            while let Some(undo) = undos.next_if(|undo| undo.at < said.created_at) {
                lines.push((NOTE, file_note(undo).into()));
            }
            lines.push((said.role.as_str(), said.body.as_str().into()));
        }
        lines.extend(undos.map(|undo| (NOTE, file_note(undo).into())));
        lines
    }

    /// As the model reads it: each message cut to a bound.
    pub(crate) fn told(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut left = CONTEXT_CHARS_MAX;
        for (role, body) in self.lines().iter().rev().take(self.turns * 4) {
            let cut: String = body.chars().take(SAID_CHARS_MAX.min(left)).collect();
            left -= cut.chars().count();
            if cut.is_empty() {
                break;
            }
            lines.push(format!("{role}: {cut}"));
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

/// The messages that count: those after a new beginning, without the turns that were taken back.
fn since_marks(all: Vec<ConversationMessage>) -> Vec<ConversationMessage> {
    let mut said: Vec<ConversationMessage> = Vec::new();
    for message in all {
        match message.role.as_str() {
            ANEW => said.clear(),
            REWOUND => {
                let is_it = |said: &ConversationMessage| {
                    said.run.as_ref().is_some_and(|run| run.as_str() == message.body)
                };
                // A turn that was read no more came before all of these.
                said.truncate(said.iter().position(is_it).unwrap_or(0));
            }
            _ => said.push(message),
        }
    }
    said
}
