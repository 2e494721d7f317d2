//! Whether a model works: tiny calls, a finding each.
//!
//! ```text
//!   text, stream, usage ─► a call natively, and a named one ─► else by schema ─► else with tags
//! ```
//!
//! The first way to call a tool that works is remembered.

use crate::app::App;
use crate::environment::is_scripted;
use crate::error::{AppError, ModelChoiceError};
use crate::frames;
use crate::learnt::LearntFrom;
use crate::secrets::SecretError;
use crate::trouble::ModelTrouble;
use everloop_engine::Environment;
use everloop_models::{CallWay, ModelTraits};
use everloop_ports::{Delta, Model, Request, WirePrompt};
use everloop_text as text;
use everloop_types::{
    Lang, Message, ModelChoice, ModelError, ModelErrorKind, Reply, ToolChoice, ToolSpec,
};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The tool that the model is asked to call. Nothing is performed.
const TOOL: &str = "take_note";

/// Findings about words, before those about tools.
const SPEECH_FINDINGS: usize = 3;

/// A model that has to be loaded first may take its time.
const ANSWER_SECONDS: u64 = 60;

/// What the trial of a model came to.
pub struct ModelTrial {
    /// The model's full name.
    pub model: String,
    /// What was tried, in order.
    pub findings: Vec<TrialFinding>,
    /// The way to call tools that works.
    pub way: Option<CallWay>,
    /// The error that every further call would end in.
    pub trouble: Option<ModelTrouble>,
}

/// One thing that works or does not.
pub struct TrialFinding {
    /// What was tried.
    pub check: TrialCheck,
    /// Why it does not work.
    pub fault: Option<TrialFault>,
    /// How long it took.
    pub took_ms: u128,
}

/// What is tried of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialCheck {
    /// It answers with text.
    Text,
    /// The text comes in pieces.
    Stream,
    /// It says what the answer cost.
    Usage,
    /// It calls a tool in the provider's own way.
    ToolCall,
    /// It calls the tool that it must call.
    NamedTool,
    /// It calls a tool by a schema.
    SchemaCall,
    /// It calls a tool with tags in its text.
    TaggedCall,
}

impl TrialCheck {
    /// For scripts; never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Stream => "stream",
            Self::Usage => "usage",
            Self::ToolCall => "tool_call",
            Self::NamedTool => "named_tool",
            Self::SchemaCall => "schema_call",
            Self::TaggedCall => "tagged_call",
        }
    }
}

impl TrialCheck {
    /// What people call it.
    #[must_use]
    pub fn words(self, lang: Lang) -> String {
        let text = match self {
            Self::Text => text::models::text(),
            Self::Stream => text::models::stream(),
            Self::Usage => text::models::usage(),
            Self::ToolCall => text::models::tool_call(),
            Self::NamedTool => text::models::named_tool(),
            Self::SchemaCall => text::models::schema_call(),
            Self::TaggedCall => text::models::tagged_call(),
        };
        text.in_lang(lang)
    }
}

/// Why something does not work.
#[derive(Debug, Clone)]
pub enum TrialFault {
    /// It did not come.
    Missing,
    /// A call came as text.
    WrittenCall,
    /// No call came.
    NoCall,
    /// Nothing came within so many seconds.
    TooSlow(u64),
    /// The model could not be asked.
    Model(ModelError),
}

impl TrialFault {
    /// Why, in words; what the model's endpoint says stays as it is.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        let text = match self {
            Self::Missing => text::models::missing(),
            Self::WrittenCall => text::models::written_call(),
            Self::NoCall => text::models::no_call(),
            Self::TooSlow(seconds) => text::models::too_slow(seconds),
            Self::Model(error) => return error.detail.clone(),
        };
        text.in_lang(lang)
    }
}

/// What a trial comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialVerdict {
    /// All of it works.
    Works,
    /// It calls tools, but something about its text does not work.
    Partly,
    /// It writes, but calls no tool.
    NoCalls,
    /// It does not even write.
    Silent,
}

impl TrialVerdict {
    /// For scripts; never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Partly => "partly",
            Self::NoCalls => "no_calls",
            Self::Silent => "silent",
        }
    }
}

impl ModelTrial {
    /// Tries a model, or the default one, and remembers how it calls tools.
    ///
    /// # Errors
    /// If there is no such model, or it cannot be connected to.
    pub async fn run(app: &App, name: Option<String>) -> Result<Self, AppError> {
        let wanted = name.unwrap_or_else(|| frames::default_model(app));
        let full = frames::model(app, wanted)?;
        let choice = ModelChoice { name: full.clone(), ..ModelChoice::default() };
        let found = app.environment(&app.settings).connected(&choice);
        let (model, name) = found.map_err(ModelChoiceError::NotConnected)?;
        let tester = ModelTester { app, model, name, refused: OnceLock::new() };
        let mut findings = tester.words().await;
        // Whoever does not take the key, or has no such model, says the same to every call.
        let is_refused = tester.refused.get().is_some();
        if is_refused {
            findings.truncate(1);
        }
        let way = if is_refused { None } else { tester.ways(&full, &mut findings).await };
        if let Some(way) = way {
            remember(app, &full, way);
        }
        let trouble = tester.refused.get().map(|error| ModelTrouble::of(app, &full, error));
        Ok(Self { model: full, findings, way, trouble })
    }

    /// Whether a run would work with it.
    #[must_use]
    pub fn works(&self) -> bool {
        self.verdict() == TrialVerdict::Works
    }

    /// What it comes to.
    #[must_use]
    pub fn verdict(&self) -> TrialVerdict {
        let is_good = |finding: &TrialFinding| finding.fault.is_none();
        let is_text = |finding: &TrialFinding| finding.check == TrialCheck::Text;
        let speaks = self.findings.iter().any(|finding| is_text(finding) && is_good(finding));
        let talks = self.findings.iter().take(SPEECH_FINDINGS).all(is_good);
        match self.way {
            Some(_) if talks => TrialVerdict::Works,
            Some(_) => TrialVerdict::Partly,
            None if speaks => TrialVerdict::NoCalls,
            None => TrialVerdict::Silent,
        }
    }

    /// For programs; `words` says what is wrong. The caller adds the error.
    pub fn to_json(&self, words: impl Fn(&TrialFault) -> String) -> Value {
        let checks = self.findings.iter().map(|finding| {
            json!({"check": finding.check.name(), "ok": finding.fault.is_none(),
                "ms": u64::try_from(finding.took_ms).unwrap_or(u64::MAX),
                "detail": finding.fault.as_ref().map(&words)})
        });
        json!({
            "model": self.model,
            "ok": self.works(),
            "checks": checks.collect::<Vec<_>>(),
            "verdict": self.verdict().name(),
            "tool_calls": self.way.map(CallWay::as_str),
        })
    }
}

/// Keeps the way that works for all runs to come.
fn remember(app: &App, name: &str, way: CallWay) {
    let host = app.environment(&app.settings).host(name);
    if is_scripted(name) {
        return;
    }
    let learnt = app.learnt();
    let known = learnt.of(name, &host).map(|entry| entry.known).unwrap_or_default();
    let known = ModelTraits { calls: Some(way), ..known };
    learnt.keep(name, &host, known, LearntFrom::Tested);
}

struct ModelTester<'a> {
    app: &'a App,
    model: Arc<dyn Model>,
    name: String,
    /// An error that every further call would end in.
    refused: OnceLock<ModelError>,
}

impl ModelTester<'_> {
    /// A text, whether it came in pieces, and what it cost.
    async fn words(&self) -> Vec<TrialFinding> {
        let begun = Instant::now();
        let mut first_ms = None;
        let mut pieces = 0;
        let mut on_delta = |delta: Delta<'_>| {
            if let Delta::Text(_) | Delta::Reasoning(_) = delta {
                first_ms.get_or_insert_with(|| begun.elapsed().as_millis());
                pieces += 1;
            }
        };
        let prompt = "Count from 1 to 10, in digits.";
        let reply = self.ask(prompt, &[], &ToolChoice::None, &mut on_delta).await;
        let took_ms = begun.elapsed().as_millis();
        let missing = |is_there: bool| match &reply {
            Err(fault) => Some(fault.clone()),
            Ok(_) if is_there => None,
            Ok(_) => Some(TrialFault::Missing),
        };
        let is_text = |reply: &Reply| !reply.text.trim().is_empty();
        let text = missing(reply.as_ref().is_ok_and(is_text));
        let usage = missing(reply.as_ref().is_ok_and(|reply| reply.usage.total() > 0));
        let stream = missing(pieces > 1);
        let first_ms = first_ms.unwrap_or(took_ms);
        vec![
            TrialFinding { check: TrialCheck::Text, fault: text, took_ms },
            TrialFinding { check: TrialCheck::Stream, fault: stream, took_ms: first_ms },
            TrialFinding { check: TrialCheck::Usage, fault: usage, took_ms },
        ]
    }

    /// Tries the ways to call a tool, the provider's own first, and gives the first that works.
    async fn ways(&self, full: &str, findings: &mut Vec<TrialFinding>) -> Option<CallWay> {
        let named = ToolChoice::Named(TOOL.to_owned());
        for (way, choice, check) in [
            (CallWay::Native, &ToolChoice::Auto, TrialCheck::ToolCall),
            (CallWay::Native, &named, TrialCheck::NamedTool),
            (CallWay::Schema, &ToolChoice::Auto, TrialCheck::SchemaCall),
            (CallWay::Tagged, &ToolChoice::Auto, TrialCheck::TaggedCall),
        ] {
            let calls_natively = findings
                .iter()
                .any(|finding| finding.check == TrialCheck::ToolCall && finding.fault.is_none());
            if way != CallWay::Native && calls_natively {
                return Some(CallWay::Native);
            }
            let finding = match self.app.environment(&self.app.settings).connected_by(full, way) {
                Ok((model, _)) => {
                    let name_there = self.name.clone();
                    let refused = OnceLock::new();
                    let there = ModelTester { app: self.app, model, name: name_there, refused };
                    there.call(choice.clone(), check).await
                }
                Err(error) => {
                    TrialFinding { check, fault: Some(TrialFault::Model(error)), took_ms: 0 }
                }
            };
            let found = finding.fault.is_none();
            findings.push(finding);
            if found && way != CallWay::Native {
                return Some(way);
            }
        }
        None
    }

    /// A call of the one tool on offer.
    async fn call(&self, choice: ToolChoice, check: TrialCheck) -> TrialFinding {
        let begun = Instant::now();
        let schema = json!({"type": "object", "required": ["text"],
            "properties": {"text": {"type": "string", "description": "What to note."}}});
        let (tool, description) = (TOOL.to_owned(), "Notes a text.".to_owned());
        let spec = ToolSpec { name: tool, description, schema, ..ToolSpec::default() };
        let prompt = format!("Call the tool {TOOL} with the text: ok");
        let mut reply = self.ask(&prompt, &[&spec], &choice, &mut |_| ()).await;
        let no_call = match &reply {
            Ok(reply) => reply.calls.is_empty(),
            Err(TrialFault::Model(error)) => error.kind == ModelErrorKind::Empty,
            Err(_) => false,
        };
        // As a run does: it is asked for again, and then in the portable way.
        if no_call && choice != ToolChoice::Auto {
            reply = self.ask(&prompt, &[&spec], &choice, &mut |_| ()).await;
        }
        let fault = match reply {
            // One that was written as text is read in runs, and is no proof of the provider's way.
            Ok(reply) if reply.salvaged => Some(TrialFault::WrittenCall),
            Ok(reply) if reply.calls.iter().any(|call| call.tool == TOOL) => None,
            Ok(_) => Some(TrialFault::NoCall),
            Err(fault) => Some(fault),
        };
        TrialFinding { check, fault, took_ms: begun.elapsed().as_millis() }
    }

    async fn ask(
        &self,
        prompt: &str,
        tools: &[&ToolSpec],
        choice: &ToolChoice,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, TrialFault> {
        let request = Request {
            model: &self.name,
            messages: &[Message::user(prompt)],
            wire: &mut WirePrompt::default(),
            tools: tools.to_vec(),
            choice,
            output: None,
            temperature_milli: self.app.settings.model.temperature.count(),
            max_tokens: self.app.settings.model.max_tokens,
        };
        let limit_ms = self.app.settings.model.test_timeout.ms();
        let asked = self.model.ask(request, on_delta);
        let Ok(reply) = timeout(Duration::from_millis(limit_ms), asked).await else {
            return Err(TrialFault::TooSlow(limit_ms / 1_000));
        };
        if let Err(error) = &reply
            && (error.is_about_the_key() || error.kind == ModelErrorKind::NotFound)
        {
            // The first one says it.
            let _ = self.refused.set(error.clone());
        }
        reply.map_err(TrialFault::Model)
    }
}

/// Why a model did not answer.
pub enum FirstWordError {
    /// Its key cannot be resolved.
    Secret(SecretError),
    /// It could not be asked.
    Model(ModelError),
    /// Nothing came within so many seconds.
    TooSlow(u64),
}

/// Asks a model for one word; how long the first one took.
///
/// # Errors
/// If no word came.
pub async fn first_word(app: &App, name: &str) -> Result<Duration, FirstWordError> {
    let environment = app.environment(&app.settings);
    if let Some(error) = environment.key_error(name) {
        return Err(FirstWordError::Secret(error));
    }
    let choice = ModelChoice { name: name.to_owned(), ..ModelChoice::default() };
    let (model, name) = environment.model(&choice).map_err(FirstWordError::Model)?;
    let messages = [Message::user("Say: ok")];
    let mut wire = WirePrompt::default();
    let request = Request {
        model: &name,
        messages: &messages,
        wire: &mut wire,
        tools: Vec::new(),
        choice: &ToolChoice::None,
        output: None,
        temperature_milli: app.settings.model.temperature.count(),
        max_tokens: 64,
    };
    let begun = Instant::now();
    let mut first = None;
    let mut on_delta = |_: Delta<'_>| {
        first.get_or_insert_with(|| begun.elapsed());
    };
    let patience = Duration::from_secs(ANSWER_SECONDS);
    match timeout(patience, model.ask(request, &mut on_delta)).await {
        // Words came, so it works, even if a thinker ran out of tokens before it was done.
        Ok(Ok(_)) => Ok(first.unwrap_or_else(|| begun.elapsed())),
        Ok(Err(error)) => first.ok_or(FirstWordError::Model(error)),
        Err(_) => first.ok_or(FirstWordError::TooSlow(ANSWER_SECONDS)),
    }
}
