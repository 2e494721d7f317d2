//! What goes out: messages of the outbox, and one that a person sends to try a channel.

use super::{ChannelError, OutboundMessage, access, find};
use crate::app::App;
use crate::environment;
use crate::settings::Settings;
use everloop_engine::{Clock, SystemClock, fresh_id};
use everloop_ports::{BoxFuture, Deliver, Delivery};
use everloop_text as text;
use everloop_tools::Channels;
use everloop_types::Lang;

/// Everything that messages can go to: the channels of tools, and those of the settings.
pub struct OutgoingChannels {
    settings: Settings,
    plain: Channels,
}

impl OutgoingChannels {
    /// As the settings have them.
    #[must_use]
    pub fn of(app: &App) -> Self {
        let settings = app.settings.clone();
        Self { plain: environment::channels(&settings), settings }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.settings.channels().is_empty()
    }

    /// The name and thread of a channel of the settings: `webhook:ops#thread`, or `ops` of a tool.
    fn own<'c>(&self, channel: &'c str) -> Option<(&'c str, &'c str)> {
        let (name, thread) = match channel.contains(':') {
            true => channel.split_once('#').unwrap_or((channel, "")),
            false => (channel, ""),
        };
        let (set, _) = find(&self.settings, name).ok()?;
        set.target().is_some().then_some((name, thread))
    }

    async fn bring(&self, delivery: &Delivery) -> Result<(), String> {
        let Some((name, thread)) = self.own(&delivery.channel) else {
            return self.plain.deliver(delivery).await;
        };
        let (id, text, at) = (delivery.id.as_str(), delivery.text.as_str(), delivery.at);
        let message = OutboundMessage { id, thread, text, at };
        send(&self.settings, name, message).await.map_err(|error| error.to_string())
    }
}

/// Why a message did not go out.
#[derive(Debug, thiserror::Error)]
pub enum ChannelSendError {
    /// There is no such channel, or its secret cannot be had.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The channel only takes messages in.
    #[error("the channel {0} has no address to send to")]
    OneWay(String),
    /// It did not arrive.
    #[error("the message did not reach the channel {name}: {detail}")]
    NotSent {
        /// The channel.
        name: String,
        /// Why.
        detail: String,
    },
}

impl ChannelSendError {
    /// For a person.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        match self {
            Self::Channel(error) => error.words(lang),
            Self::OneWay(name) => text::channels::one_way(name).in_lang(lang),
            Self::NotSent { name, detail } => text::channels::not_sent(name, detail).in_lang(lang),
        }
    }
}

async fn send(
    settings: &Settings,
    name: &str,
    message: OutboundMessage<'_>,
) -> Result<(), ChannelSendError> {
    let (set, kind) = find(settings, name)?;
    if set.target().is_none() {
        return Err(ChannelSendError::OneWay(set.name().to_owned()));
    }
    let channel = access(settings, set)?;
    let sent = kind.send(&channel, message).await;
    sent.map_err(|detail| ChannelSendError::NotSent { name: set.name().to_owned(), detail })
}

/// Sends one message to a channel, now and once, so that a person sees whether it arrives. Returns
/// its id.
///
/// # Errors
/// [`ChannelSendError`].
pub async fn send_test(app: &App, name: &str, thread: &str) -> Result<String, ChannelSendError> {
    let at = SystemClock.now();
    let id = fresh_id("test_", at);
    let text = text::channels::test(&name).in_lang(app.lang);
    send(&app.settings, name, OutboundMessage { id: &id, thread, text: &text, at }).await?;
    Ok(id)
}

impl Deliver for OutgoingChannels {
    fn has(&self, channel: &str) -> bool {
        self.own(channel).is_some() || self.plain.has(channel)
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.bring(delivery))
    }
}
