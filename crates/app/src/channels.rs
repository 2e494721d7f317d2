//! Channels: messages from outside that become turns, and the answers that go back.
//!
//! ```text
//!   request ──ChannelKind::read──► InboundMessage ──► conversation of (channel, thread)
//!                                                       └──► the front door (`turns`)
//!   ending, question ──same transaction──► outbox ──ChannelKind::send──► the other side
//!   reply to a command ────────────────────►
//! ```
//!
//! A kind of channel is one file and one row of [`KINDS`]: how it is set up, how a request is
//! checked and read, how a message is sent. Deliberately absent: the listener, which is a
//! surface's.

mod outgoing;
pub mod webhook;

#[cfg(test)]
#[path = "channels/channels_tests.rs"]
mod tests;

pub use outgoing::{ChannelSendError, OutgoingChannels, send_test};

use crate::app::App;
use crate::error::AppError;
use crate::frames;
use crate::secrets::{self, SecretError};
use crate::settings::{Settings, SignedChannel};
use crate::turns::{self, OutsideSender, TurnMessage, TurnReceipt, TurnSender};
use everloop_engine::{Clock, Engine, SystemClock};
use everloop_ports::BoxFuture;
use everloop_store::NewConversation;
use everloop_text as text;
use everloop_types::{ConversationId, Lang, RunId, UtcMs, digest_bytes};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a request that are accepted.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Characters of a conversation's id that follow from its channel and thread.
const ID_CHARS: usize = 26;

/// A message from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InboundMessage {
    /// The channel: its kind and its name, as in `webhook:ops`.
    pub channel: String,
    /// The thread of the other side.
    pub thread: String,
    /// What it says.
    pub text: String,
    /// Its id: the same one is one turn.
    pub id: String,
}

/// A message for the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundMessage<'a> {
    /// Its id: the same one is one message.
    pub id: &'a str,
    /// The thread of the other side; empty if it belongs to none.
    pub thread: &'a str,
    /// What it says.
    pub text: &'a str,
    /// The present moment.
    pub at: UtcMs,
}

/// What arrived, as the listener has it.
#[derive(Debug, Clone, Copy)]
pub struct InboundRequest<'a> {
    /// Names and values; the case of names does not matter.
    pub headers: &'a [(String, String)],
    /// The bytes, unchanged.
    pub body: &'a [u8],
    /// The present moment.
    pub now: UtcMs,
}

impl InboundRequest<'_> {
    fn header(&self, name: &'static str) -> Result<&str, ChannelError> {
        let mut named = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        let found = named.next().map(|(_, value)| value.trim()).filter(|value| !value.is_empty());
        found.ok_or(ChannelError::Header(name))
    }
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChannelReceipt {
    /// The run that it began, answered or canceled.
    pub run: Option<RunId>,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// What the program said to it at once, as to a command. It goes back to the channel as well.
    pub reply: Option<String>,
    /// Whether it had been received before.
    pub duplicate: bool,
}

/// Why a message was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// There is no such channel.
    #[error("no channel {0}")]
    NoSuchChannel(String),
    /// A header is missing or cannot be read.
    #[error("the header {0} is missing or cannot be read")]
    Header(&'static str),
    /// No signature fits.
    #[error("no signature fits")]
    Unsigned,
    /// Its time is too far from now.
    #[error("the time of the request is too far off")]
    TooOld,
    /// The body is too large.
    #[error("the body has more than {BODY_BYTES_MAX} bytes")]
    TooLarge,
    /// The body is not a message; why.
    #[error("the body is not a message: {0}")]
    Body(String),
    /// There is nothing in it.
    #[error("the message has no text")]
    Empty,
    /// The channel's secret cannot be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The run could not be made.
    #[error(transparent)]
    App(#[from] AppError),
}

impl ChannelError {
    /// For a person.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let say = |text: text::Text| text.in_lang(lang);
        match self {
            Self::NoSuchChannel(name) => say(text::channels::none(&name)),
            Self::Header(name) => say(text::channels::header(name)),
            Self::Unsigned => say(text::channels::unsigned()),
            Self::TooOld => say(text::channels::old()),
            Self::TooLarge => say(text::channels::too_large(&BODY_BYTES_MAX)),
            Self::Body(detail) => say(text::channels::body(&detail)),
            Self::Empty => say(text::channels::empty()),
            Self::Secret(error) => error.words(lang),
            Self::App(error) => error.to_string(),
        }
    }
}

/// A channel with what its fields hold: secrets and addresses, not where they are.
#[derive(Clone)]
pub struct ChannelAccess {
    /// The name that the person gave it.
    pub name: String,
    /// What each field of its kind holds.
    pub own: BTreeMap<&'static str, String>,
}

impl ChannelAccess {
    /// What a field holds; nothing if it was left out.
    #[must_use]
    pub fn field(&self, name: &str) -> &str {
        self.own.get(name).map_or("", String::as_str)
    }
}

/// A field of the settings of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelField {
    /// Its name in the table.
    pub name: &'static str,
    /// What may stand there.
    pub form: FieldForm,
    /// Whether it must be there.
    pub required: bool,
}

/// What may stand in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// Where a secret is, never itself.
    Secret,
    /// An http or https address, or where it is.
    Address,
    /// Any words.
    Word,
}

/// A kind of channel.
pub trait ChannelKind: Send + Sync {
    /// What its channels begin with, as in `webhook:ops`.
    fn name(&self) -> &'static str;

    /// What its tables in the settings have beside what every channel has.
    fn fields(&self) -> &'static [ChannelField];

    /// The field that says where messages go. Without a value there, its channel only takes in.
    fn target(&self) -> Option<&'static str>;

    /// Checks a request and reads its message.
    ///
    /// # Errors
    /// [`ChannelError`] if it is not to be trusted or not understood.
    fn read(
        &self,
        channel: &ChannelAccess,
        request: &InboundRequest<'_>,
    ) -> Result<InboundMessage, ChannelError>;

    /// How long an id could arrive again.
    fn replay_ms(&self) -> i64;

    /// Sends a message. An error says why it is to be sent again; it may have arrived all the same.
    fn send<'a>(
        &'a self,
        channel: &'a ChannelAccess,
        message: OutboundMessage<'a>,
    ) -> BoxFuture<'a, Result<(), String>>;
}

/// All kinds of channels; the first is the usual one.
#[cfg(not(test))]
pub const KINDS: [&dyn ChannelKind; 1] = [&webhook::Webhook];

/// The same, and one that only tests have.
#[cfg(test)]
pub const KINDS: [&dyn ChannelKind; 2] = [&webhook::Webhook, &tests::Pigeon];

/// The kind of that name.
#[must_use]
pub fn kind(name: &str) -> Option<&'static dyn ChannelKind> {
    KINDS.into_iter().find(|kind| kind.name() == name)
}

/// A channel of the settings: by its name, or with its kind as in `webhook:ops`.
fn find<'s>(
    settings: &'s Settings,
    named: &str,
) -> Result<(&'s SignedChannel, &'static dyn ChannelKind), ChannelError> {
    let is_it = |channel: &&SignedChannel| match named.split_once(':') {
        Some((kind, name)) => channel.kind() == kind && channel.name() == name,
        None => channel.name() == named,
    };
    let found = settings.channels().iter().find(is_it);
    let found = found.and_then(|channel| Some((channel, kind(channel.kind())?)));
    found.ok_or_else(|| ChannelError::NoSuchChannel(named.to_owned()))
}

/// A channel with its secrets and addresses.
fn access(settings: &Settings, channel: &SignedChannel) -> Result<ChannelAccess, ChannelError> {
    let mut own = BTreeMap::new();
    for (field, written) in channel.own() {
        own.insert(*field, secrets::behind(written, settings)?);
    }
    Ok(ChannelAccess { name: channel.name().to_owned(), own })
}

/// Takes in a request for a channel, by its name: checked, and given to the front door like every
/// other message. The same message twice is one turn. When this returns, what it did is durable.
///
/// # Errors
/// [`ChannelError`]. One whose status is 500 or more may be tried again.
pub async fn receive(
    app: &App,
    engine: &Arc<Engine>,
    channel: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<ChannelReceipt, ChannelError> {
    let (set, kind) = find(&app.settings, channel)?;
    let now = SystemClock.now();
    let request = InboundRequest { headers, body, now };
    let message = kind.read(&access(&app.settings, set)?, &request)?;
    let conversation = conversation_of(&message);
    let conversations = engine.store().conversations();
    let seen = conversations.seen_webhook(&message.channel, &message.id).await;
    if let Some(run) = seen.map_err(AppError::from)? {
        let run = Some(run).filter(|run| !run.as_str().is_empty());
        return Ok(ChannelReceipt { run, conversation, reply: None, duplicate: true });
    }
    let (run, reply) = hand_over(app, engine, set, &message, &conversation).await?;
    let expires_at = now.saturating_add(kind.replay_ms());
    let noted = run.clone().unwrap_or_else(|| RunId::new(""));
    let noted =
        conversations.note_webhook(&message.channel, &message.id, &noted, now, expires_at).await;
    noted.map_err(AppError::from)?;
    Ok(ChannelReceipt { run, conversation, reply, duplicate: false })
}

/// The conversation of a channel and thread: the same one for each message.
fn conversation_of(message: &InboundMessage) -> ConversationId {
    let place = format!("{}\n{}", message.channel, message.thread);
    let digest: String = digest_bytes(place.as_bytes()).chars().take(ID_CHARS).collect();
    ConversationId::new(format!("conv_{digest}"))
}

/// Gives a message to the front door, and queues what the program itself says to it. Returns the
/// run that the message is about, and those words.
async fn hand_over(
    app: &App,
    engine: &Arc<Engine>,
    set: &SignedChannel,
    message: &InboundMessage,
    conversation: &ConversationId,
) -> Result<(Option<RunId>, Option<String>), AppError> {
    let (store, now) = (engine.store(), SystemClock.now());
    let workspace = frames::workspace(set.workspace().map(Path::new))?;
    let new = NewConversation {
        id: conversation.clone(),
        channel: message.channel.clone(),
        thread: Some(message.thread.clone()),
        workspace: Some(workspace.display().to_string()),
        now,
    };
    store.conversations().ensure(&new).await?;
    let (channel, may_approve) = (message.channel.clone(), set.approves());
    let turn = TurnMessage {
        content: message.text.clone(),
        client_request_id: Some(request_id(&message.id)),
        sender: TurnSender::Outside(OutsideSender { channel, may_approve, workspace }),
        ..TurnMessage::default()
    };
    let receipt = turns::send(app, engine, conversation, turn).await?;
    let reply = words_to(&receipt, app.lang);
    if let (Some(reply), Some(_)) = (&reply, set.target()) {
        let id = format!("{}:{}:reply", message.channel, message.id);
        store.outbox().note(conversation, &id, reply, now).await?;
    }
    Ok((run_of(receipt), reply))
}

/// An id of the other side as that of a request, which may not be as long.
fn request_id(id: &str) -> String {
    match id.chars().count() <= turns::REQUEST_ID_CHARS_MAX {
        true => id.to_owned(),
        false => digest_bytes(id.as_bytes()),
    }
}

/// What the program itself says to a message. A turn is answered by its run, and so is a cancel.
fn words_to(receipt: &TurnReceipt, lang: Lang) -> Option<String> {
    let text = match receipt {
        TurnReceipt::Command { text } => return Some(text.clone()),
        TurnReceipt::NotAnswered { question, .. } => text::channels::reply::again(question),
        TurnReceipt::NothingToCancel => text::channels::reply::nothing(),
        TurnReceipt::NoModel => text::channels::reply::no_model(),
        TurnReceipt::Suggested { command } => text::channels::reply::suggested(command),
        TurnReceipt::Turn { .. }
        | TurnReceipt::Answered { .. }
        | TurnReceipt::Canceled { .. }
        | TurnReceipt::Steered { .. }
        | TurnReceipt::Queued { .. }
        | TurnReceipt::Empty => return None,
    };
    Some(text.in_lang(lang))
}

fn run_of(receipt: TurnReceipt) -> Option<RunId> {
    match receipt {
        TurnReceipt::Turn { run_id, .. }
        | TurnReceipt::Answered { run_id, .. }
        | TurnReceipt::NotAnswered { run_id, .. }
        | TurnReceipt::Steered { run_id, .. }
        | TurnReceipt::Canceled { run_id, .. } => Some(run_id),
        _ => None,
    }
}
