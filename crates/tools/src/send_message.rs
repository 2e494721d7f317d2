//! `send_message`: a message to a channel, through our own outbox.
//!
//! The message and the outcome of the call are one transaction, so whether it was sent is never
//! unknown: it is queued, and the next worker delivers it, at least once and under one id.

use crate::Channels;
use everloop_ports::{CallContext, Outgoing, Tool, ToolReturn};
use everloop_types::{
    Approval, DataFlow, EffectClass, Handling, Observation, OnUnknown, SendTarget,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Most characters of a message.
const TEXT_CHARS_MAX: usize = 20_000;

/// The arguments of `send_message`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessageArgs {
    /// The channel's name.
    pub channel: String,
    /// What to say.
    pub text: String,
}

/// Sends a message.
#[derive(Debug)]
pub struct SendMessage {
    channels: Channels,
    description: String,
}

impl SendMessage {
    /// To these channels.
    #[must_use]
    pub fn new(channels: Channels) -> Self {
        let names = channels.names().join(", ");
        let description = format!(
            "Send a message to people outside. It is queued at once and delivered soon after; it \
             cannot be taken back. Channels: {names}."
        );
        Self { channels, description }
    }
}

impl Tool for SendMessage {
    const NAME: &'static str = "send_message";
    type Args = SendMessageArgs;

    fn description(&self) -> &str {
        &self.description
    }

    fn handling(&self) -> Handling {
        Handling {
            class: EffectClass::Transactional,
            approval: Approval::Ask,
            on_unknown: OnUnknown::TellModel,
            timeout_ms: 10_000,
            flow: Some(DataFlow::NOTHING.sends(SendTarget::Arg("channel".to_owned()))),
            ..Handling::default()
        }
    }

    async fn call(&self, args: SendMessageArgs, _: &CallContext) -> ToolReturn {
        let SendMessageArgs { channel, text } = args;
        if !self.channels.names().contains(&channel.as_str()) {
            let names = self.channels.names().join(", ");
            let words = format!("there is no channel {channel}; there are: {names}");
            return ToolReturn::Seen(Observation::error(words));
        }
        if text.trim().is_empty() || text.chars().count() > TEXT_CHARS_MAX {
            let words = format!("a message has 1 to {TEXT_CHARS_MAX} characters");
            return ToolReturn::Seen(Observation::error(words));
        }
        let seen = Observation::ok(format!("queued for {channel}"));
        ToolReturn::Queued(seen, Outgoing { channel, text })
    }
}
