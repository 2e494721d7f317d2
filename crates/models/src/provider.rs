//! One call to a provider, in any wire format. What it ignores or refuses is requested differently.
//!
//! ```text
//!   ask ──► natively; a call written as text is read, and the next request is emulated
//!    │       └─► a schema by a forced tool, where there is no other way
//!    │            └─► a forced call; the next one after it was ignored, and all after that
//!    │                helped: in words, with a JSON schema where there is one
//!    └────► emulated: the prompt lists the tools, and the reply is JSON by a schema or tagged text
//!             └─► without a schema or a temperature, once it was refused
//! ```

use crate::forced::{self, Portable};
use crate::http::{EndpointSpec, ProviderClient};
use crate::request_log;
use crate::way::TraitCache;
use crate::wire::{EventReader, RefusedSchema, WireFault};
use crate::written_call::{self, HeldText, WrittenCall};
use crate::{CallWay, Endpoint, ExtraMessage, ModelConnectError, RequestParts, emulation};
use everloop_ports::{Delta, Model, ModelFuture, OnDelta, Request, WirePrompt};
use everloop_types::{Message, ModelError, OutputSchema, Reply, ToolChoice, ToolSpec};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tracing::Instrument;

/// The wire format of one provider.
pub(crate) trait Codec: Send + Sync {
    /// Reads its replies.
    type EventReader: EventReader + Send;

    /// What requests have in common.
    fn endpoint_spec(&self) -> EndpointSpec;

    /// Which forced calls are honoured.
    fn forcing(&self) -> Forcing {
        Forcing::Any
    }

    /// How tools are called unless something else was set or found out.
    fn calls(&self) -> CallWay {
        CallWay::Native
    }

    /// Whether the reply can be held to a JSON schema.
    fn schemas(&self, ask: &RequestParts<'_>) -> Schemas;

    /// What is called below the base address.
    fn call(&self, model: &str) -> String;

    /// Brings `wire` up to date with `messages` and renders the whole body.
    fn render(
        &self,
        ask: RequestParts<'_>,
        wire: &mut WirePrompt,
        messages: &[Message],
        extra: ExtraMessage<'_>,
    ) -> Vec<u8>;
}

/// Whether replies can be held to a JSON schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schemas {
    /// The request takes one.
    Native,
    /// The request takes one that is an object at its top, and no choice between several.
    Object,
    /// The request asks for JSON, and a sentence describes it.
    InWords,
    /// The request has no such option: only a sentence describes it.
    Unknown,
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

/// An endpoint, its wire format, and what was learnt about the model. All calls share a pool of
/// connections.
#[derive(Debug)]
pub(crate) struct Provider<C> {
    pub(crate) client: ProviderClient,
    pub(crate) codec: C,
    learning: TraitCache,
    /// The last forced call was ignored: the next one is requested in the portable way.
    doubted: AtomicBool,
}

/// The prompt of a call: what was rendered of it, and all of it.
struct Prompt<'a> {
    wire: &'a mut WirePrompt,
    messages: &'a [Message],
}

impl<C: Codec> Provider<C> {
    /// Prepares a client; nothing is sent.
    pub(crate) fn new(codec: C, endpoint: Endpoint) -> Result<Self, ModelConnectError> {
        let learning = TraitCache::new(endpoint.knowledge.clone());
        let client = ProviderClient::new(codec.endpoint_spec(), endpoint)?;
        Ok(Self { client, codec, learning, doubted: AtomicBool::new(false) })
    }

    async fn answer(
        &self,
        request: Request<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let Request { model, messages, wire, tools, choice, output, .. } = request;
        let temperature_milli = Some(request.temperature_milli);
        let (tools, max_tokens) = (&tools[..], request.max_tokens);
        // A forced call has no text that could follow a schema.
        let output = output.filter(|_| !forced::is_forced(choice));
        let ask = RequestParts { model, tools, choice, output, temperature_milli, max_tokens };
        match self.way(&ask) {
            CallWay::Native => {
                wire.say(String::new());
                self.native(ask, &mut Prompt { wire, messages }, on_delta).await
            }
            way => self.emulated(way, ask, Prompt { wire, messages }, on_delta).await,
        }
    }

    /// How tools are called now.
    fn way(&self, ask: &RequestParts<'_>) -> CallWay {
        let way = self.learning.calls().unwrap_or_else(|| self.codec.calls());
        let schemas = self.schemas(&RequestParts { tools: &[], ..*ask });
        match way {
            // One object cannot say which arguments go with which tool.
            CallWay::Schema if schemas != Schemas::Native => CallWay::Tagged,
            way => way,
        }
    }

    /// Whether the reply can be held to a schema, as far as is known.
    fn schemas(&self, ask: &RequestParts<'_>) -> Schemas {
        match self.codec.schemas(ask) {
            Schemas::Native | Schemas::Object if self.learning.known().refuses_schemas => {
                Schemas::Unknown
            }
            schemas => schemas,
        }
    }

    /// A reply by the provider's own interface. A call that it writes as text is taken as a call if
    /// it can be read in one way only; the next requests are emulated.
    async fn native(
        &self,
        ask: RequestParts<'_>,
        prompt: &mut Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        if ask.tools.is_empty() || *ask.choice == ToolChoice::None || ask.output.is_some() {
            return self.shaped(ask, prompt, on_delta).await;
        }
        let wanted = forced::wanted(ask.tools, ask.choice)?;
        let tools = if wanted.is_empty() { ask.tools } else { &wanted };
        let mut held = HeldText::new(on_delta);
        let reply = self.shaped(ask, prompt, &mut |delta| held.take(delta)).await?;
        let written = match reply.calls.is_empty() {
            true => written_call::read(&reply.text, tools),
            false => WrittenCall::Answer,
        };
        if written == WrittenCall::Answer {
            held.let_go();
            return Ok(reply);
        }
        self.learning.learn(|known| known.calls = Some(CallWay::Schema));
        match written {
            WrittenCall::Call(call) => {
                held.become_call(&call);
                Ok(written_call::salvaged(reply, call))
            }
            WrittenCall::Answer | WrittenCall::Unclear => Ok(reply),
        }
    }

    /// A reply to a prompt that lists the tools itself and says how they are called.
    async fn emulated(
        &self,
        way: CallWay,
        ask: RequestParts<'_>,
        prompt: Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let Prompt { wire, messages } = prompt;
        let wanted = forced::wanted(ask.tools, ask.choice)?;
        let tools = if *ask.choice == ToolChoice::Auto { ask.tools } else { &[] };
        if !tools.is_empty() {
            wire.say(emulation::words(way, tools));
        }
        let messages = emulation::spoken(messages, wire.words(), way);
        let is_framed = !wire.words().is_empty();
        let prompt = &mut Prompt { wire, messages: &messages };
        let plain = RequestParts { tools: &[], choice: &ToolChoice::None, ..ask };
        if !wanted.is_empty() {
            return self.portable(&wanted, plain, prompt, on_delta).await;
        }
        if tools.is_empty() && (ask.output.is_some() || !is_framed) {
            return self.shaped(plain, prompt, on_delta).await;
        }
        let (schema, words) = match (way, ask.output) {
            (CallWay::Tagged, None) => (None, None),
            (CallWay::Tagged, Some(output)) => (None, Some(forced::schema_words(output))),
            _ => (Some(emulation::schema(tools, ask.choice, ask.output)), None),
        };
        let mut stream = emulation::EmulatedStream::new(way);
        let mut show = |delta: Delta<'_>| match delta {
            Delta::Text(piece) => stream.push(piece, on_delta),
            delta => on_delta(delta),
        };
        let ask = RequestParts { output: schema.as_ref(), ..plain };
        let reply = self.post(ask, prompt, words.as_deref(), &mut show).await?;
        let reply = emulation::read(way, reply, tools);
        if !stream.has_shown() {
            emulation::show(&reply, on_delta);
        }
        Ok(reply)
    }

    /// A reply that follows a schema, if there is one to follow.
    async fn shaped(
        &self,
        ask: RequestParts<'_>,
        prompt: &mut Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let Some(output) = ask.output else { return self.called(ask, prompt, on_delta).await };
        let schemas = self.schemas(&ask);
        match schemas {
            Schemas::Native | Schemas::Object => self.called(ask, prompt, on_delta).await,
            Schemas::ByTool => self.by_tool(ask, output, prompt, on_delta).await,
            Schemas::InWords | Schemas::Unknown => {
                let words = forced::schema_words(output);
                let output = ask.output.filter(|_| schemas == Schemas::InWords);
                Ok(self
                    .post(RequestParts { output, ..ask }, prompt, Some(&words), on_delta)
                    .await?)
            }
        }
    }

    /// A reply that follows a schema, as the arguments of a tool that only exists for that.
    async fn by_tool(
        &self,
        ask: RequestParts<'_>,
        output: &OutputSchema,
        prompt: &mut Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let spec = forced::reply_tool(output);
        let free = *ask.choice == ToolChoice::Auto && !ask.tools.is_empty();
        let choice = match free {
            true => ToolChoice::Required,
            false => ToolChoice::Named(spec.name.clone()),
        };
        let tools: Vec<&ToolSpec> = ask.tools.iter().copied().chain([&spec]).collect();
        let ask = RequestParts { tools: &tools, choice: &choice, output: None, ..ask };
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
        ask: RequestParts<'_>,
        prompt: &mut Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let wanted = forced::wanted(ask.tools, ask.choice)?;
        if wanted.is_empty() {
            return Ok(self.post(ask, prompt, None, on_delta).await?);
        }
        let (any, named) = (ToolChoice::Required, ToolChoice::Named(wanted[0].name.clone()));
        let honoured = match (self.codec.forcing(), ask.choice) {
            _ if self.learning.known().ignores_forced => None,
            _ if self.doubted.swap(false, Ordering::Relaxed) => None,
            (Forcing::Any, _) | (Forcing::Named, ToolChoice::Named(_)) => Some(ask),
            // With one tool on offer the two mean the same.
            (Forcing::Required, _) => Some(RequestParts { tools: &wanted, choice: &any, ..ask }),
            (Forcing::Named, _) if wanted.len() == 1 => {
                Some(RequestParts { choice: &named, ..ask })
            }
            (Forcing::Named | Forcing::None, _) => None,
        };
        if let Some(ask) = honoured {
            let reply = self.post(ask, prompt, None, on_delta).await;
            if !matches!(&reply, Err(fault) if fault.refused.tool_choice) {
                self.doubted.store(forced::ignored(&reply, &wanted), Ordering::Relaxed);
                return Ok(reply?);
            }
        }
        let plain = RequestParts { tools: &[], choice: &ToolChoice::None, output: None, ..ask };
        let reply = self.portable(&wanted, plain, prompt, on_delta).await?;
        if !reply.calls.is_empty() {
            self.learning.learn(|known| known.ignores_forced = true);
        }
        Ok(reply)
    }

    /// A call of one of these tools, asked for in words and by a schema where there is one.
    async fn portable(
        &self,
        wanted: &[&ToolSpec],
        mut ask: RequestParts<'_>,
        prompt: &mut Prompt<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, ModelError> {
        let portable = Portable::new(wanted);
        if !matches!(self.schemas(&ask), Schemas::ByTool | Schemas::Unknown) {
            ask.output = Some(portable.schema());
        }
        // Watchers do not see the JSON; they get the call that it becomes.
        let mut muted = |delta: Delta<'_>| {
            if let Delta::Reasoning(_) = delta {
                on_delta(delta);
            }
        };
        let answer = self.post(ask, prompt, Some(portable.words()), &mut muted).await;
        let reply = portable.read(answer.map_err(ModelError::from))?;
        for (index, call) in reply.calls.iter().enumerate() {
            on_delta(Delta::CallStarted { index, tool: &call.tool });
            on_delta(Delta::CallArgs { index, args: &call.args });
        }
        Ok(reply)
    }

    /// One request, and the same once more without a temperature or a schema if that is what was
    /// refused: the model was not asked in that case.
    async fn post(
        &self,
        mut ask: RequestParts<'_>,
        prompt: &mut Prompt<'_>,
        extra: ExtraMessage<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, WireFault> {
        if self.learning.known().refuses_temperature {
            ask.temperature_milli = None;
        }
        let reply = self.send(ask, prompt, extra, on_delta).await;
        let refused = match &reply {
            Ok(_) => return reply,
            Err(fault) => fault.refused,
        };
        if refused.temperature && ask.temperature_milli.is_some() {
            ask.temperature_milli = None;
            let reply = self.send(ask, prompt, extra, on_delta).await?;
            self.learning.learn(|known| known.refuses_temperature = true);
            return Ok(reply);
        }
        let Some((output, schema)) = ask.output.zip(refused.schema) else { return reply };
        let words = forced::schema_words(output);
        let extra = extra.or(Some(&words));
        let reply =
            self.send(RequestParts { output: None, ..ask }, prompt, extra, on_delta).await?;
        if schema == RefusedSchema::All {
            self.learning.learn(|known| known.refuses_schemas = true);
        }
        Ok(reply)
    }

    async fn send(
        &self,
        ask: RequestParts<'_>,
        prompt: &mut Prompt<'_>,
        extra: ExtraMessage<'_>,
        on_delta: OnDelta<'_>,
    ) -> Result<Reply, WireFault> {
        let body = self.codec.render(ask, prompt.wire, prompt.messages, extra);
        let span = request_log::request_span(self.client.host(), ask.model, body.len());
        let call = self.codec.call(ask.model);
        let began = Instant::now();
        let sent = self.client.post::<C::EventReader>(&call, body, on_delta);
        let reply = sent.instrument(span.clone()).await;
        span.in_scope(|| request_log::log_end(&reply, began.elapsed()));
        reply
    }
}

impl<C: Codec> Model for Provider<C> {
    fn ask<'a>(&'a self, request: Request<'a>, on_delta: OnDelta<'a>) -> ModelFuture<'a> {
        Box::pin(self.answer(request, on_delta))
    }
}
