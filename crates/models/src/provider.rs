//! One call to a provider, whatever it speaks: what it ignores or refuses is asked for otherwise.
//!
//! ```text
//!   ask ──► a schema by a forced tool, where there is no other way
//!             └─► a forced call; the next one after it was ignored, and all after that helped:
//!                 in words, with a JSON schema where there is one
//!                   └─► without a temperature, once it was refused
//! ```

use crate::forced::{self, Portable};
use crate::http::{Client, Manners};
use crate::wire::Reads;
use crate::{
    Ask, Asking, ConnectError, Delta, Endpoint, Extra, Model, OnDelta, Request, WirePrompt,
};
use everloop_types::{
    Message, ModelError, ModelErrorKind, OutputSchema, Reply, ToolChoice, ToolSpec,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// How one provider is spoken to.
pub(crate) trait Codec: Send + Sync {
    /// What its replies are read by.
    type Reads: Reads + Send;

    /// What requests have in common.
    fn manners(&self) -> Manners;

    /// Which forced calls are honoured.
    fn forcing(&self) -> Forcing {
        Forcing::Any
    }

    /// Whether the reply can be held to a JSON schema.
    fn schemas(&self, ask: &Ask<'_>) -> Schemas;

    /// What is called below the base address.
    fn call(&self, model: &str) -> String;

    /// Brings `wire` up to date with `messages` and renders the whole body.
    fn render(
        &self,
        ask: Ask<'_>,
        wire: &mut WirePrompt,
        messages: &[Message],
        extra: Extra<'_>,
    ) -> Vec<u8>;
}

/// Whether replies can be held to a JSON schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schemas {
    /// The request takes one.
    Native,
    /// The request asks for JSON, and words say which.
    InWords,
    /// Only the arguments of a tool follow one.
    ByTool,
}

/// Which forced calls are honoured. The others are not even tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forcing {
    /// Of a named tool and of any tool.
    Any,
    /// Only of any tool.
    Required,
    /// Only of a named tool.
    Named,
    /// None at all.
    None,
}

/// An endpoint, how it is spoken to, and what was learnt about it. Connections are kept and shared
/// by all calls.
#[derive(Debug)]
pub(crate) struct Provider<C> {
    pub(crate) client: Client,
    pub(crate) codec: C,
    /// Seen once: forced tool calls are not honoured, but the portable way is.
    ignores_forced: AtomicBool,
    /// The last forced call was answered otherwise: the next one is asked for in the portable way.
    doubted: AtomicBool,
    /// Seen once: the model wants no temperature.
    refuses_temperature: AtomicBool,
}

/// The prompt of a call: what was rendered of it, and all of it.
struct Prompt<'a> {
    wire: &'a mut WirePrompt,
    messages: &'a [Message],
}

impl<C: Codec> Provider<C> {
    /// Prepares a client; nothing is sent.
    pub(crate) fn new(codec: C, endpoint: Endpoint) -> Result<Self, ConnectError> {
        let client = Client::new(codec.manners(), endpoint)?;
        let (ignores_forced, doubted, refuses_temperature) = Default::default();
        Ok(Self { client, codec, ignores_forced, doubted, refuses_temperature })
    }

    async fn answer(
        &self,
        request: Request<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let Request { model, messages, wire, tools, choice, output, .. } = request;
        let temperature_milli = Some(request.temperature_milli);
        let (tools, max_tokens) = (&tools[..], request.max_tokens);
        let ask = Ask { model, tools, choice, output, temperature_milli, max_tokens };
        let prompt = &mut Prompt { wire, messages };
        match output.map(|output| (output, self.codec.schemas(&ask))) {
            Some((output, Schemas::ByTool)) => self.shaped(ask, output, prompt, on_delta).await,
            Some((output, Schemas::InWords)) if !forced::is_forced(ask.choice) => {
                let words = forced::schema_words(output);
                self.post(ask, prompt, Some(&words), on_delta).await
            }
            _ => self.called(ask, prompt, on_delta).await,
        }
    }

    /// A reply that follows a schema, as the arguments of a tool that only exists for that.
    async fn shaped(
        &self,
        ask: Ask<'_>,
        output: &OutputSchema,
        prompt: &mut Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        if forced::is_forced(ask.choice) {
            return self.called(Ask { output: None, ..ask }, prompt, on_delta).await;
        }
        let spec = forced::reply_tool(output);
        let free = *ask.choice == ToolChoice::Auto && !ask.tools.is_empty();
        let choice = match free {
            true => ToolChoice::Required,
            false => ToolChoice::Named(spec.name.clone()),
        };
        let tools: Vec<&ToolSpec> = ask.tools.iter().copied().chain([&spec]).collect();
        let ask = Ask { tools: &tools, choice: &choice, output: None, ..ask };
        let mut place = None;
        let mut as_text = |delta: Delta<'_>| match delta {
            Delta::CallStarted { index, tool } if tool == spec.name => place = Some(index),
            Delta::CallArgs { index, args } if place == Some(index) => on_delta(Delta::Text(args)),
            delta => on_delta(delta),
        };
        let reply = self.called(ask, prompt, &mut as_text).await?;
        Ok(forced::reply_text(reply, &spec))
    }

    /// A reply with the tool call that is forced, if one is.
    async fn called(
        &self,
        ask: Ask<'_>,
        prompt: &mut Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let wanted = forced::wanted(ask.tools, ask.choice)?;
        if wanted.is_empty() {
            return self.post(ask, prompt, None, on_delta).await;
        }
        let (any, named) = (ToolChoice::Required, ToolChoice::Named(wanted[0].name.clone()));
        let honoured = match (self.codec.forcing(), ask.choice) {
            _ if self.ignores_forced.load(Ordering::Relaxed) => None,
            _ if self.doubted.swap(false, Ordering::Relaxed) => None,
            (Forcing::Any, _) | (Forcing::Named, ToolChoice::Named(_)) => Some(ask),
            // With one tool on offer the two mean the same.
            (Forcing::Required, _) => Some(Ask { tools: &wanted, choice: &any, ..ask }),
            (Forcing::Named, _) if wanted.len() == 1 => Some(Ask { choice: &named, ..ask }),
            (Forcing::Named | Forcing::None, _) => None,
        };
        if let Some(ask) = honoured {
            let reply = self.post(ask, prompt, None, on_delta).await;
            if !forced::refused(&reply) {
                self.doubted.store(forced::ignored(&reply, &wanted), Ordering::Relaxed);
                return reply;
            }
        }
        let portable = Portable::new(&wanted);
        let mut ask = Ask { tools: &[], choice: &ToolChoice::None, output: None, ..ask };
        if self.codec.schemas(&ask) != Schemas::ByTool {
            ask.output = Some(portable.schema());
        }
        // The JSON is no text for watchers; they get the call it becomes.
        let mut muted = |delta: Delta<'_>| {
            if let Delta::Reasoning(_) = delta {
                on_delta(delta);
            }
        };
        let answer = self.post(ask, prompt, Some(portable.words()), &mut muted).await;
        let reply = portable.read(answer)?;
        if !reply.calls.is_empty() {
            self.ignores_forced.store(true, Ordering::Relaxed);
        }
        for (index, call) in reply.calls.iter().enumerate() {
            on_delta(Delta::CallStarted { index, tool: &call.tool });
            on_delta(Delta::CallArgs { index, args: &call.args });
        }
        Ok(reply)
    }

    /// One request, and the same once more without a temperature if that is what was refused.
    async fn post(
        &self,
        mut ask: Ask<'_>,
        prompt: &mut Prompt<'_>,
        extra: Extra<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        if self.refuses_temperature.load(Ordering::Relaxed) {
            ask.temperature_milli = None;
        }
        let reply = self.send(ask, prompt, extra, on_delta).await;
        let refused = ask.temperature_milli.is_some()
            && matches!(&reply, Err(e) if e.kind == ModelErrorKind::Refused
                && e.detail.contains("temperature"));
        if !refused {
            return reply;
        }
        ask.temperature_milli = None;
        let reply = self.send(ask, prompt, extra, on_delta).await?;
        self.refuses_temperature.store(true, Ordering::Relaxed);
        Ok(reply)
    }

    async fn send(
        &self,
        ask: Ask<'_>,
        prompt: &mut Prompt<'_>,
        extra: Extra<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let body = self.codec.render(ask, prompt.wire, prompt.messages, extra);
        self.client.post::<C::Reads>(&self.codec.call(ask.model), body, on_delta).await
    }
}

impl<C: Codec> Model for Provider<C> {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> Asking<'a> {
        Box::pin(self.answer(request, on_delta))
    }
}
