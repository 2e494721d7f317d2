//! What a tool is: as its author writes it, and as the engine calls it.

use crate::{AccessRules, DelegateArgs, RunStart};
use everloop_types::{
    CallPreview, EffectId, FactProposal, FileChange, Handling, Labels, Observation, RunId,
    ToolSpec, check_args,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{future::Future, pin::Pin, sync::Arc, time::Instant};
use tokio_util::sync::CancellationToken;

/// A tool as its author writes it: a name, a handling, typed arguments, some lines of work.
pub trait Tool: Send + Sync + 'static {
    /// The name that the model calls.
    const NAME: &'static str;

    /// The arguments. Their doc comments are the descriptions that the model reads, so
    /// derive `JsonSchema` and say `deny_unknown_fields`.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// How the runtime treats it.
    fn handling(&self) -> Handling;

    /// The argument that takes a plain string where a loop has no structured arguments.
    fn text_arg() -> Option<&'static str> {
        None
    }

    /// Does the work. A failure is an observation, never a panic.
    fn call(
        &self,
        args: Self::Args,
        context: &CallContext,
    ) -> impl Future<Output = ToolReturn> + Send;

    /// Who decides about this call. Changes nothing, and is asked each time anew.
    fn judge(&self, _args: &Self::Args) -> impl Future<Output = CallPolicy> + Send {
        async { CallPolicy::Default }
    }

    /// The path by which the file is known that the call names, where links lead to another one:
    /// rules and labels are about both.
    fn leads_to(&self, _args: &Self::Args) -> Option<String> {
        None
    }

    /// Whether this call is to be judged, though calls of the tool are free by themselves.
    fn is_delicate(&self, _args: &Self::Args) -> bool {
        false
    }

    /// What the call would do, for the person who is asked about it. Changes nothing.
    fn preview(&self, _args: &Self::Args) -> impl Future<Output = CallPreview> + Send {
        async { CallPreview::Call }
    }

    /// What is recorded in the intent, so that `probe` can tell later what happened. Only a tool
    /// that keeps records of its own needs to know which run makes the call.
    fn before(
        &self,
        _args: &Self::Args,
        _run: Option<&RunId>,
    ) -> impl Future<Output = Value> + Send {
        async { Value::Null }
    }

    /// Whether an interrupted call happened. Changes nothing itself, but may clear away what only
    /// the dead call can have left in the way: a crash within it is harmless, it is run again.
    fn probe(&self, _args: Self::Args, _intent: &Intent) -> impl Future<Output = Probe> + Send {
        async { Probe::unknown("this tool cannot tell") }
    }
}

/// Who decides about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallPolicy {
    /// Whoever the tool's handling and the run's policy name.
    Default,
    /// A rule allows it, and which.
    Allow(String),
    /// A person is asked, unless a rule allows it.
    Sensitive,
    /// A rule wants a person to be asked, and which.
    Ask(String),
    /// A person is asked, whatever rules and `--yes` allow, and why.
    AlwaysAsk(String),
    /// It may not be made, and why.
    Deny(String),
    /// It would run without a sandbox: only a person allows it who was told so, whatever else is
    /// allowed. Why there is none.
    Unsandboxed(UnsandboxedReason),
}

/// Why a call would run without a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnsandboxedReason {
    /// The settings turned it off.
    Off,
    /// There is none here, and why.
    Unavailable(String),
}

/// How a call came back.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolReturn {
    /// It ended, well or badly, and this is what the model sees.
    Seen(Observation),
    /// The same for a call that changed a file. The change is for people: no model sees it.
    Changed(Observation, Box<FileChange>),
    /// It ended, and this message is queued for its channel together with its outcome.
    Queued(Observation, Outgoing),
    /// It ended, and this fact is proposed together with its outcome.
    Proposed(Observation, Box<FactProposal>),
    /// A question to the person; the outcome arrives through the inbox.
    Ask(String),
    /// A task for a child run; the outcome is its end.
    Delegate(DelegateArgs),
    /// It is over after so many milliseconds; the run holds no worker until then.
    Sleep(u64),
    /// A run that begins together with the outcome, which names it. Nobody waits for it.
    Start(Box<RunStart>),
    /// An error that may pass and certainly acted on nothing: the call may be made again.
    Passing(TransientToolError),
    /// It may have acted and brought no outcome, and why: made again only if its key is honoured.
    Lost(String),
}

/// An error that may pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransientToolError {
    /// What the model sees once no attempt is left.
    pub seen: Observation,
    /// How long the other side asked us to wait.
    pub retry_after_ms: Option<u64>,
}

impl ToolReturn {
    /// An error that may pass, in words.
    pub fn passing(words: impl Into<String>) -> Self {
        Self::Passing(TransientToolError { seen: Observation::error(words), retry_after_ms: None })
    }
}

/// A message for a channel outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Where it goes.
    pub channel: String,
    /// What it says.
    pub text: String,
}

/// What a probe found out about an interrupted call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It was done; this is what the model would have seen.
    Happened(Observation),
    /// Nothing was done.
    DidNot,
    /// Neither can be said, and why not.
    Unknown(String),
}

impl Probe {
    /// Neither can be said.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown(why.into())
    }
}

/// What is on record of a call that was cut short.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    /// What [`Tool::before`] saw.
    pub before: Value,
    /// The key that the call was made with.
    pub idem_key: String,
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// Most characters of the observation.
    pub observation_chars: usize,
}

/// Receives a tool's output while it runs: clean text, in pieces of any length.
pub type OnOutput = Arc<dyn Fn(&str) + Send + Sync>;

/// What surrounds one call.
#[derive(Clone)]
pub struct CallContext {
    /// Asks the call to stop.
    pub cancel: CancellationToken,
    /// When the call has to be over, if its own time-out is not earlier.
    pub deadline: Option<Instant>,
    /// Most characters of the observation.
    pub observation_chars: usize,
    /// The same for every attempt at this effect, and for no other effect.
    pub idem_key: String,
    /// The effect, where a run makes the call.
    pub effect: Option<EffectId>,
    /// Which attempt at this effect it is, from 1.
    pub attempt: u32,
    /// Who watches the output.
    pub on_output: Option<OnOutput>,
    /// Whether a person allowed it after they were told that it runs without a sandbox.
    pub may_run_bare: bool,
    /// What the run's rules close on the way.
    pub bars: AccessRules,
    /// The labels of all that the run has read.
    pub holds: Labels,
}

impl CallContext {
    /// A context without a deadline or a watcher, for callers who answer for the call themselves.
    pub fn new(idem_key: impl Into<String>) -> Self {
        Self {
            cancel: CancellationToken::new(),
            deadline: None,
            observation_chars: 10_000,
            idem_key: idem_key.into(),
            effect: None,
            attempt: 1,
            on_output: None,
            may_run_bare: true,
            bars: AccessRules::default(),
            holds: Labels::ALL,
        }
    }
}

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool as the engine calls it: any arguments, as JSON text.
pub trait AnyTool: Send + Sync {
    /// What the model and the runtime know of it.
    fn spec(&self) -> &ToolSpec;

    /// Checks the arguments and does the work. Bad arguments are an observation.
    fn call<'a>(&'a self, args: &'a str, context: &'a CallContext) -> BoxFuture<'a, ToolReturn>;

    /// Who decides about this call; bad arguments are refused anyway.
    fn judge<'a>(&'a self, args: &'a str) -> BoxFuture<'a, CallPolicy>;

    /// The path that the call leads to by links; none if it is the one that it names.
    fn leads_to(&self, _args: &str) -> Option<String> {
        None
    }

    /// Whether this call is to be judged, though calls of the tool are free by themselves.
    fn is_delicate(&self, _args: &str) -> bool {
        false
    }

    /// What the call would do, for the person who is asked about it.
    fn preview<'a>(&'a self, _args: &'a str) -> BoxFuture<'a, CallPreview> {
        Box::pin(async { CallPreview::Call })
    }

    /// What the intent records; null for bad arguments.
    fn before<'a>(&'a self, args: &'a str) -> BoxFuture<'a, Value>;

    /// The same for a call that this run makes.
    fn before_call<'a>(&'a self, args: &'a str, _run: &'a RunId) -> BoxFuture<'a, Value> {
        self.before(args)
    }

    /// Whether an interrupted call happened; unknown for bad arguments.
    fn probe<'a>(&'a self, args: &'a str, intent: &'a Intent) -> BoxFuture<'a, Probe>;
}

/// Hides the type of a tool's arguments.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn AnyTool> {
    let spec = ToolSpec {
        name: T::NAME.to_owned(),
        description: tool.description().to_owned(),
        schema: args_schema::<T::Args>(),
        text_arg: T::text_arg().map(str::to_owned),
        handling: tool.handling(),
    };
    Arc::new(ErasedTool { tool, spec })
}

/// The schema without what only tells schema libraries something; each byte is in every prompt.
fn args_schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("description");
    let mut schema = schema.to_value();
    strip(&mut schema);
    schema
}

/// A shorter description ("The file.") is there for readers of the code: the name says as much.
const TELLING_BYTES_MIN: usize = 20;

/// Takes out what says nothing to a model. That a value may be left out stands in `required`, so
/// null, which [`check_args`] takes for nothing, is not said again.
fn strip(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    for noise in ["title", "format", "default"] {
        fields.remove(noise);
    }
    if fields.get("minimum").and_then(Value::as_f64) == Some(0.0) {
        fields.remove("minimum");
    }
    if fields.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false)) {
        fields.remove("additionalProperties");
    }
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::String(text)) = fields.get_mut("description") {
        *text = text.replace('\n', " ");
        if text.len() < TELLING_BYTES_MIN {
            fields.remove("description");
        }
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(strip);
    }
    if let Some(items) = fields.get_mut("items") {
        strip(items);
    }
}

struct ErasedTool<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Tool> ErasedTool<T> {
    fn parse(&self, args: &str) -> Result<T::Args, String> {
        let value = check_args(&self.spec, args)?;
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

impl<T: Tool> AnyTool for ErasedTool<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, args: &'a str, context: &'a CallContext) -> BoxFuture<'a, ToolReturn> {
        Box::pin(async move {
            match self.parse(args) {
                Ok(args) => self.tool.call(args, context).await,
                Err(wrong) => {
                    ToolReturn::Seen(Observation::error(format!("bad arguments: {wrong}")))
                }
            }
        })
    }

    fn judge<'a>(&'a self, args: &'a str) -> BoxFuture<'a, CallPolicy> {
        Box::pin(async move {
            match self.parse(args) {
                Ok(args) => self.tool.judge(&args).await,
                Err(_) => CallPolicy::Default,
            }
        })
    }

    fn leads_to(&self, args: &str) -> Option<String> {
        self.tool.leads_to(&self.parse(args).ok()?)
    }

    fn is_delicate(&self, args: &str) -> bool {
        self.parse(args).is_ok_and(|args| self.tool.is_delicate(&args))
    }

    fn preview<'a>(&'a self, args: &'a str) -> BoxFuture<'a, CallPreview> {
        Box::pin(async move {
            match self.parse(args) {
                Ok(args) => self.tool.preview(&args).await,
                Err(_) => CallPreview::Call,
            }
        })
    }

    fn before<'a>(&'a self, args: &'a str) -> BoxFuture<'a, Value> {
        Box::pin(async move {
            match self.parse(args) {
                Ok(args) => self.tool.before(&args, None).await,
                Err(_) => Value::Null,
            }
        })
    }

    fn before_call<'a>(&'a self, args: &'a str, run: &'a RunId) -> BoxFuture<'a, Value> {
        Box::pin(async move {
            match self.parse(args) {
                Ok(args) => self.tool.before(&args, Some(run)).await,
                Err(_) => Value::Null,
            }
        })
    }

    fn probe<'a>(&'a self, args: &'a str, intent: &'a Intent) -> BoxFuture<'a, Probe> {
        Box::pin(async move {
            match self.parse(args) {
                Ok(args) => self.tool.probe(args, intent).await,
                Err(wrong) => Probe::Unknown(format!("bad arguments: {wrong}")),
            }
        })
    }
}
