//! Which conversation a chat goes on with.
//!
//! ```text
//!   newest of this folder and home ──free──► it
//!            └──another terminal has it──► one here that was left unfinished, else a new one
//! ```

use super::terminals::Terminals;
use crate::app::App;
use crate::conversations::{
    ConversationChannel, ConversationQuery, ListedConversation, list, new_conversation, of_folder,
};
use crate::error::{AppError, ConversationError};
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_store::Store;
use everloop_types::ConversationId;
use std::path::{Path, PathBuf};

/// The one conversation of programs before there were several.
pub(crate) const EARLIER_CONVERSATION: &str = "conv_terminal";

/// Which conversation is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConversationSelection {
    /// The newest of the folder that no other terminal has; a new one if there is none.
    #[default]
    Newest,
    /// The newest of the folder, whoever has it; a new one if there is none.
    Joined,
    /// A new one.
    New,
    /// This one.
    Named(ConversationId),
}

/// Which conversation is wanted, and where its messages come from.
#[derive(Debug, Clone, Default)]
pub struct ConversationRequest {
    /// Which.
    pub which: ConversationSelection,
    /// Where its messages come from.
    pub channel: ConversationChannel,
}

/// Which conversation was opened, and why not another one.
#[derive(Debug, Clone, Default)]
pub struct ConversationOpening {
    /// The conversation that goes on; none if a new one begins.
    pub continued: Option<ListedConversation>,
    /// The newest one of the folder, which another terminal has.
    pub in_use: Option<ListedConversation>,
    /// The newest one of another folder, if this one has none and one was to go on.
    pub elsewhere: Option<ListedConversation>,
    /// The folder of the conversation that is gone, so that this one is worked in instead.
    pub lost_folder: Option<String>,
}

/// The conversation that a chat is in.
#[derive(Debug)]
pub(super) struct ConversationPlace {
    pub(super) id: ConversationId,
    channel: ConversationChannel,
    /// Whether the store has its row.
    is_recorded: bool,
}

impl ConversationPlace {
    /// Chooses a conversation and notes that this terminal has it. `workspace` becomes the folder
    /// of a conversation that is named.
    pub(super) async fn choose(
        app: &App,
        store: &Store,
        request: &ConversationRequest,
        workspace: &mut PathBuf,
        terminals: &mut Terminals,
    ) -> Result<(Self, ConversationOpening), AppError> {
        // Two terminals that open at the same time look one after the other.
        let _turn = terminals.take_turn();
        let channel = request.channel;
        let mut opening = ConversationOpening::default();
        match &request.which {
            ConversationSelection::New => {}
            ConversationSelection::Named(id) => {
                let row = store.conversations().get(id).await?;
                let row = row.ok_or_else(|| ConversationError::NotFound(id.to_string()))?;
                opening.continued = Some(ListedConversation::new(row));
                opening.use_folder(workspace);
            }
            which => {
                let join = *which == ConversationSelection::Joined;
                opening.look(app, store, channel, workspace, terminals, join).await?;
            }
        }
        let place = match &opening.continued {
            Some(one) => Self { id: one.row.id.clone(), channel, is_recorded: true },
            None => Self::new(channel),
        };
        terminals.enter(&place.id);
        Ok((place, opening))
    }

    fn new(channel: ConversationChannel) -> Self {
        let id = ConversationId::new(fresh_id("conv_", SystemClock.now()));
        Self { id, channel, is_recorded: false }
    }

    /// Notes that the person has seen all that was said so far.
    pub(super) async fn mark_read(&self, store: &Store) {
        // What stays unread is told of once more.
        let _ = store.conversations().mark_read(&self.id, None, SystemClock.now()).await;
    }

    /// Another conversation of the same channel.
    pub(super) fn request(&self, which: ConversationSelection) -> ConversationRequest {
        ConversationRequest { which, channel: self.channel }
    }

    /// What leads back to this conversation.
    pub(super) fn selection(&self) -> ConversationSelection {
        match self.is_recorded {
            true => ConversationSelection::Named(self.id.clone()),
            false => ConversationSelection::Newest,
        }
    }

    /// Writes the conversation down before its first message.
    pub(super) async fn record(
        &mut self,
        app: &App,
        store: &Store,
        workspace: &Path,
    ) -> Result<(), AppError> {
        if self.is_recorded {
            return Ok(());
        }
        let workspace = workspace.to_string_lossy();
        let new = new_conversation(app, self.id.clone(), self.channel, &workspace)?;
        store.conversations().ensure(&new).await?;
        self.is_recorded = true;
        Ok(())
    }
}

impl ConversationOpening {
    /// Looks for the newest conversation of the folder.
    async fn look(
        &mut self,
        app: &App,
        store: &Store,
        channel: ConversationChannel,
        workspace: &Path,
        terminals: &Terminals,
        join: bool,
    ) -> Result<(), AppError> {
        let workspace = workspace.to_string_lossy();
        let mut all = of_folder(app, store, channel, &workspace).await?;
        if join && all.is_empty() {
            // Who asks to go on means the chat of this folder, wherever its lines came from.
            let other = channel.other_chat();
            all = of_folder(app, store, other, &workspace).await?;
        }
        let others = terminals.of_others().conversations;
        let Some(newest) = all.first() else {
            if join {
                let query = ConversationQuery { most: 20, ..ConversationQuery::default() };
                let mut all = list(app, store, query).await?.into_iter();
                self.elsewhere = all.find(ListedConversation::is_chat);
            }
            return Ok(());
        };
        if join || !others.contains(&newest.row.id) {
            self.continued = Some(newest.clone());
            return Ok(());
        }
        let is_left =
            |one: &&ListedConversation| one.row.is_open() && !others.contains(&one.row.id);
        self.continued = all.iter().find(is_left).cloned();
        self.in_use = Some(newest.clone());
        Ok(())
    }

    /// A conversation that was named is worked on in its own folder.
    fn use_folder(&mut self, workspace: &mut PathBuf) {
        let folder = self.continued.as_ref().and_then(|one| one.row.workspace.clone());
        let Some(folder) = folder else { return };
        match Path::new(&folder).canonicalize() {
            Ok(found) if found.is_dir() => *workspace = found,
            _ => self.lost_folder = Some(folder),
        }
    }
}
