//! Runs by type: what somebody wants to be done, checked, and made into a run.
//!
//! ```text
//!   RunRequest { type, input, … } ──► RunType ──► checked input ──► Submission ──► Engine
//!        agent ─────────────────► a goal under a loop
//!        sleep, fetch_web, … ───► the loop `task`: one fixed call, then the ending
//! ```
//!
//! Decisions, schedules, the API and the command line all start work here.

mod inputs;

pub use inputs::{
    AgentInput, AnalyzeInput, FetchWebInput, IndexRepoInput, SleepInput, SummarizeInput,
};

use crate::analysis::{self, AnalysisRequest};
use crate::app::App;
use crate::briefing;
use crate::conversation::EarlierTurns;
use crate::conversations::{self, ConversationChannel};
use crate::error::{AppError, ChoiceError, ConversationError, RunTypeError};
use crate::facts;
use crate::frames::{self, RunOptions};
use everloop_analysis::ShareLevel;
use everloop_engine::{Engine, Submission, SystemClock, fresh_id};
use everloop_ports::Clock as _;
use everloop_store::{ConversationMessage, Store};
use everloop_text::{self as text, Text};
use everloop_types::{
    ConversationId, Frame, Goal, RunId, RunProfile, RunTypeOffer, TaskCall, TaskSpec, ToolSpec,
    one_line,
};
use schemars::schema_for;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Characters of the longest title.
pub const TITLE_CHARS_MAX: usize = 200;

/// Bytes of the longest input.
const INPUT_BYTES_MAX: usize = 1_000_000;

/// Messages of a conversation that a summary may be about.
const MESSAGES_MAX: usize = 2_000;

/// The loop of every type but `agent`.
const TASK_LOOP: &str = "task";

/// What the model does with a conversation.
const SUMMARIZE: &str = include_str!("run_types/summarize.md");

/// Fields of inputs that a decision leaves out: conversation and folder are its own, and the loop
/// is that of the settings.
const NOT_OFFERED: [&str; 3] = ["conversation_id", "workspace", "loop"];

/// What a run can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunType {
    /// A goal under a loop.
    Agent,
    /// A wait.
    Sleep,
    /// A summary of a conversation.
    SummarizeConversation,
    /// The index of a folder.
    IndexRepo,
    /// A page of the web.
    FetchWeb,
    /// A question about data files.
    Analyze,
}

/// A type with what it takes, for the API document and for models that choose one.
#[derive(Debug, Clone, Serialize)]
pub struct RunTypeInfo {
    /// Its name.
    #[serde(rename = "type")]
    pub run_type: RunType,
    /// What it does, in English.
    pub description: &'static str,
    /// JSON schema of its input.
    pub input: Value,
}

/// What somebody wants to be done.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// The name of its type.
    #[serde(rename = "type")]
    pub run_type: String,
    /// What people call it; without one its goal is shown.
    #[serde(default)]
    pub title: Option<String>,
    /// What the type takes.
    #[serde(default)]
    pub input: Value,
    /// The conversation that it belongs to; without one its end opens a conversation of its own.
    #[serde(default, rename = "conversation_id")]
    pub conversation: Option<ConversationId>,
    /// The same key twice is the same run.
    #[serde(skip)]
    pub idem_key: Option<String>,
    /// The run that it does again.
    #[serde(skip)]
    pub retry_of: Option<RunId>,
    /// What the person chose beside the input.
    #[serde(skip)]
    pub options: RunOptions,
}

impl RunType {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Agent,
        Self::Sleep,
        Self::SummarizeConversation,
        Self::IndexRepo,
        Self::FetchWeb,
        Self::Analyze,
    ];

    /// The name in requests, SQL and pages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => everloop_types::AGENT,
            Self::Sleep => "sleep",
            Self::SummarizeConversation => "summarize_conversation",
            Self::IndexRepo => "index_repo",
            Self::FetchWeb => "fetch_web",
            Self::Analyze => "analyze",
        }
    }

    /// Reads the name.
    ///
    /// # Errors
    /// [`RunTypeError::Unknown`].
    pub fn parse(name: &str) -> Result<Self, RunTypeError> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| RunTypeError::Unknown(name.to_owned()))
    }

    /// What it takes.
    #[must_use]
    pub fn info(self) -> RunTypeInfo {
        let (description, input) = match self {
            Self::Agent => (
                "Works on a goal with tools: reads and changes files, runs commands, searches the \
                 web, writes reports. The goal says everything that it has to know.",
                schema_for!(AgentInput).to_value(),
            ),
            Self::Sleep => (
                "Waits for some time and then says so; survives a restart.",
                schema_for!(SleepInput).to_value(),
            ),
            Self::SummarizeConversation => {
                ("Summarizes a whole conversation.", schema_for!(SummarizeInput).to_value())
            }
            Self::IndexRepo => (
                "Builds the index of a folder of the workspace for search_code.",
                schema_for!(IndexRepoInput).to_value(),
            ),
            Self::FetchWeb => (
                "Fetches one public web page as readable text.",
                schema_for!(FetchWebInput).to_value(),
            ),
            Self::Analyze => (
                "Analyses data files (CSV, JSON, Excel, Parquet) and writes a report whose numbers \
                 are \
                 checked against the results of queries.",
                schema_for!(AnalyzeInput).to_value(),
            ),
        };
        RunTypeInfo { run_type: self, description, input }
    }

    /// The type as a decision is offered it.
    fn offer(self) -> RunTypeOffer {
        let RunTypeInfo { description, input, .. } = self.info();
        let fields = input["properties"].as_object().into_iter().flatten();
        let fields = fields.filter(|(name, _)| !NOT_OFFERED.contains(&name.as_str()));
        let field = |(name, schema): (&String, &Value)| {
            let kinds = &schema["type"];
            let kind = kinds.as_str().or_else(|| kinds[0].as_str()).unwrap_or("any");
            let about = schema["description"].as_str().unwrap_or_default();
            format!("`{name}` ({kind}): {about}")
        };
        let fields: Vec<String> = fields.map(field).collect();
        let fields = if fields.is_empty() { "{}".to_owned() } else { fields.join(" ") };
        let about = format!("{description} Input: {fields}");
        RunTypeOffer { name: self.name().to_owned(), about }
    }

    /// Reads an input of this type.
    fn read<T: DeserializeOwned>(self, input: &Value) -> Result<T, RunTypeError> {
        // Nothing is as good as an empty object.
        let input = if input.is_null() { json!({}) } else { input.clone() };
        serde_json::from_value(input).map_err(|error| self.bad(error.to_string()))
    }

    fn bad(self, detail: impl Into<String>) -> RunTypeError {
        RunTypeError::BadInput { run_type: self.name(), detail: detail.into() }
    }
}

impl RunTypeError {
    /// For people.
    #[must_use]
    pub fn text(&self) -> Text {
        match self {
            Self::Unknown(name) => {
                text::tasks::unknown_type(name, &RunType::ALL.map(RunType::name).join(", "))
            }
            Self::BadInput { run_type, detail } => text::tasks::bad_input(run_type, detail),
        }
    }
}

/// The types that the settings allow, in their order, as a decision is offered them.
#[must_use]
pub(crate) fn allowed(app: &App) -> Vec<RunTypeOffer> {
    let allowed = app.settings.agent.allowed_run_types.iter();
    allowed.map(|name| name.run_type().offer()).collect()
}

/// Every type with what it takes.
#[must_use]
pub fn all() -> Vec<RunTypeInfo> {
    RunType::ALL.map(RunType::info).to_vec()
}

/// Everything about the run that never changes, checked before anything is written.
///
/// # Errors
/// [`RunTypeError`] for a type or an input that cannot be used, or what else stands in the way.
pub async fn submission(
    app: &App,
    store: &Store,
    request: &RunRequest,
) -> Result<Submission, AppError> {
    let run_type = RunType::parse(&request.run_type)?;
    if request.input.to_string().len() > INPUT_BYTES_MAX {
        return Err(run_type.bad(format!("longer than {INPUT_BYTES_MAX} bytes")).into());
    }
    let title = request.title.as_deref().map(checked_title).transpose()?;
    let made = match run_type {
        RunType::Agent => agent(app, request)?,
        RunType::Sleep => sleep(app, request)?,
        RunType::SummarizeConversation => summarize(app, store, request).await?,
        RunType::IndexRepo => index_repo(app, request)?,
        RunType::FetchWeb => fetch_web(app, request)?,
        RunType::Analyze => analyze(app, request)?,
    };
    let (run_type, retry_of) = (run_type.name().to_owned(), request.retry_of.clone());
    let profile = RunProfile { run_type, title, retry_of };
    Ok(Submission { idem_key: request.idem_key.clone(), profile, ..made })
}

/// Creates the run. When this returns, it will be finished, whatever happens.
///
/// # Errors
/// As [`submission`]; [`ConversationError::NotFound`] if it names a conversation that is not there.
pub async fn start(app: &App, engine: &Engine, request: &RunRequest) -> Result<RunId, AppError> {
    let submission = submission(app, engine.store(), request).await?;
    submit(app, engine, submission, request.conversation.as_ref()).await
}

/// Submits a run in a conversation, or in a new one that tells of its end. A run with a goal is
/// told the facts.
///
/// # Errors
/// [`ConversationError::NotFound`], or if the store fails.
pub async fn submit(
    app: &App,
    engine: &Engine,
    mut submission: Submission,
    conversation: Option<&ConversationId>,
) -> Result<RunId, AppError> {
    let store = engine.store();
    if submission.profile.is_agent() {
        facts::brief(app, store, &mut submission.frame).await?;
    }
    let Some(id) = conversation else {
        let id = ConversationId::new(fresh_id("conv_task_", SystemClock.now()));
        let (channel, workspace) = (ConversationChannel::Task, &submission.frame.workspace);
        let opens = conversations::new_conversation(app, id, channel, workspace)?;
        return Ok(engine.submit_opening(opens, submission).await?);
    };
    if store.conversations().get(id).await?.is_none() {
        return Err(ConversationError::NotFound(id.to_string()).into());
    }
    if submission.profile.is_agent() {
        let earlier = EarlierTurns::of(app, store, id).await?;
        submission.goal.context.push_str(&earlier.told());
        submission.frame.policy.inherited.join(&earlier.held(store).await);
    }
    Ok(engine.submit_in(id.clone(), submission).await?)
}

/// A title on one line.
///
/// # Errors
/// [`ConversationError::BadTitle`] for an empty or a very long one.
pub fn checked_title(title: &str) -> Result<String, AppError> {
    let title = one_line(&title.split_whitespace().collect::<Vec<_>>().join(" "));
    match title.is_empty() || title.chars().count() > TITLE_CHARS_MAX {
        true => Err(ConversationError::BadTitle(TITLE_CHARS_MAX).into()),
        false => Ok(title),
    }
}

fn agent(app: &App, request: &RunRequest) -> Result<Submission, AppError> {
    let input: AgentInput = RunType::Agent.read(&request.input)?;
    if input.goal.trim().is_empty() {
        return Err(RunType::Agent.bad("goal: is empty").into());
    }
    let options = RunOptions {
        loop_name: input.loop_name.or_else(|| request.options.loop_name.clone()),
        workspace: input.workspace.or_else(|| request.options.workspace.clone()),
        ..request.options.clone()
    };
    frames::submission(app, &options, &input.goal)
}

fn analyze(app: &App, request: &RunRequest) -> Result<Submission, AppError> {
    let input: AnalyzeInput = RunType::Analyze.read(&request.input)?;
    let options = RunOptions {
        loop_name: input.loop_name.or_else(|| request.options.loop_name.clone()),
        workspace: input.workspace.or_else(|| request.options.workspace.clone()),
        ..request.options.clone()
    };
    let unknown = |name| RunType::Analyze.bad(format!("share: {}", one_line(name)));
    let share =
        input.share.as_deref().map(|name| ShareLevel::parse(name).ok_or_else(|| unknown(name)));
    let (files, question, out) = (input.files, input.question, input.out);
    let share = share.transpose()?;
    let wanted = AnalysisRequest { files, question, out, share, ..AnalysisRequest::default() };
    analysis::submission(app, &options, &wanted)
}

fn sleep(app: &App, request: &RunRequest) -> Result<Submission, AppError> {
    let input: SleepInput = RunType::Sleep.read(&request.input)?;
    let most = app.settings.tasks.max_sleep.ms() / 1_000;
    if input.seconds > most {
        let detail = format!("seconds: at most {most} (setting tasks.max_sleep)");
        return Err(RunType::Sleep.bad(detail).into());
    }
    let goal = text::tasks::goal::sleep(&input.seconds).in_lang(app.lang);
    let args = json!({"seconds": input.seconds});
    tool_task(app, request, RunType::Sleep, "sleep", &args, goal)
}

fn index_repo(app: &App, request: &RunRequest) -> Result<Submission, AppError> {
    let input: IndexRepoInput = RunType::IndexRepo.read(&request.input)?;
    let path = input.path.unwrap_or_else(|| PathBuf::from("."));
    let goal = text::tasks::goal::index(&one_line(&path.display().to_string()));
    let goal = goal.in_lang(app.lang);
    let workspace = input.workspace.or_else(|| request.options.workspace.clone());
    let options = RunOptions { workspace, ..request.options.clone() };
    let request = &RunRequest { options, ..request.clone() };
    tool_task(app, request, RunType::IndexRepo, "index_repo", &json!({"path": path}), goal)
}

fn fetch_web(app: &App, request: &RunRequest) -> Result<Submission, AppError> {
    let input: FetchWebInput = RunType::FetchWeb.read(&request.input)?;
    let url = input.url.trim();
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err(RunType::FetchWeb.bad("url: is not an http or https address").into());
    }
    let goal = text::tasks::goal::fetch(&one_line(url)).in_lang(app.lang);
    tool_task(app, request, RunType::FetchWeb, "fetch_web", &json!({"url": url}), goal)
}

/// A task that is one call of a tool. No model is needed for it.
fn tool_task(
    app: &App,
    request: &RunRequest,
    run_type: RunType,
    tool: &str,
    args: &Value,
    goal: String,
) -> Result<Submission, AppError> {
    let workspace = frames::workspace(request.options.workspace.as_deref())?;
    let spec = tool_spec(app, &workspace, tool)?;
    let mut frame = frames::frame_with(app, TASK_LOOP, &workspace, vec![spec]);
    frame.policy = frames::policy(app, frames::wanted_mode(app, &request.options));
    let call = TaskCall::Tool { tool: tool.to_owned(), args: args.to_string() };
    Ok(task(run_type, request, call, frame, Goal { text: goal, ..Goal::default() }))
}

fn tool_spec(app: &App, workspace: &Path, tool: &str) -> Result<ToolSpec, AppError> {
    let environment = app.environment(&app.settings);
    let registry = environment.registry(workspace.to_owned(), &app.zone_name(), app.lang);
    let registry = registry
        .ok_or_else(|| ChoiceError::Workspace { folder: workspace.to_owned(), source: None })?;
    let spec = registry.specs_of(|name| name == tool).into_iter().next();
    let unknown = || ChoiceError::UnknownTool { name: tool.to_owned(), nearest: "" };
    Ok(spec.ok_or_else(unknown)?)
}

async fn summarize(app: &App, store: &Store, request: &RunRequest) -> Result<Submission, AppError> {
    let run_type = RunType::SummarizeConversation;
    let input: SummarizeInput = run_type.read(&request.input)?;
    let id = input.conversation_id.map(ConversationId::new).or(request.conversation.clone());
    let id = id.ok_or_else(|| run_type.bad("conversation_id: is missing"))?;
    if store.conversations().get(&id).await?.is_none() {
        return Err(ConversationError::NotFound(id.to_string()).into());
    }
    let said = conversations::messages(store, &id, Some(MESSAGES_MAX)).await?;
    let context = told(&said, app.settings.tasks.summary_chars);
    if context.is_empty() {
        return Err(run_type.bad("the conversation has no messages").into());
    }
    let workspace = frames::workspace(request.options.workspace.as_deref())?;
    let model = frames::model(app, frames::wanted_model(app, &request.options)?)?;
    let persona = briefing::persona(app, request.options.persona.as_deref())?;
    let frame = frames::frame(app, TASK_LOOP, &workspace, model, &persona)?;
    let policy = frames::policy(app, frames::wanted_mode(app, &request.options));
    let frame = Frame { tools: Vec::new(), system: briefing::plain_system(app), policy, ..frame };
    let text = text::tasks::goal::summarize().in_lang(app.lang);
    let call = TaskCall::Model { instructions: SUMMARIZE.trim().to_owned() };
    Ok(task(run_type, request, call, frame, Goal { text, context, ..Goal::default() }))
}

/// The newest messages that fit, oldest first.
fn told(said: &[ConversationMessage], chars_max: usize) -> String {
    let mut left = chars_max;
    let mut lines: Vec<String> = Vec::new();
    for message in said.iter().rev() {
        let line = format!("{}: {}", message.role, message.body);
        let count = line.chars().count();
        if count > left {
            let cut: String = line.chars().take(left).collect();
            lines.push(format!("{cut}… [cut; earlier messages are left out]"));
            break;
        }
        left -= count;
        lines.push(line);
    }
    lines.reverse();
    lines.join("\n")
}

fn task(
    run_type: RunType,
    request: &RunRequest,
    call: TaskCall,
    frame: Frame,
    goal: Goal,
) -> Submission {
    let (run_type, input) = (run_type.name().to_owned(), request.input.clone());
    let frame = Frame { task: Some(TaskSpec { run_type, input, call }), ..frame };
    let (idem_key, profile) = (None, RunProfile::default());
    Submission { loop_name: TASK_LOOP.to_owned(), goal, frame, idem_key, profile }
}
